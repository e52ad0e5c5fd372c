// How values and errors are shown: as the interpreter itself would print them, and as data where that says more.
'use strict'

const util = require('node:util')

const MOST_JSON = 1 << 20
const OPTIONS = { colors: false, depth: 4, maxArrayLength: 200, maxStringLength: 100000, breakLength: 100 }
// Frames of the driver itself say nothing to the author of a cell.
const OWN_FRAME = /\(?node:|driver\.cjs|cells\.cjs|\bat new Script\b/

function bundle (value) {
  const custom = value?.[Symbol.for('Jupyter.display')]
  if (typeof custom === 'function') return { 'text/plain': util.inspect(value, OPTIONS), ...custom.call(value) }
  const data = { 'text/plain': typeof value === 'string' ? util.inspect(value, OPTIONS) : util.inspect(value, OPTIONS) }
  if (value !== null && typeof value === 'object') {
    const json = plain(value)
    if (json !== undefined) data['application/json'] = json
  }
  return data
}

// Arrays and plain objects, when they are small and hold nothing that JSON would lose.
function plain (value) {
  const prototype = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return undefined
  try {
    const text = JSON.stringify(value)
    return text === undefined || text.length > MOST_JSON ? undefined : JSON.parse(text)
  } catch {
    return undefined // it holds itself, or a BigInt
  }
}

function interrupted () {
  const problem = new Error('the execution was interrupted')
  problem.name = 'KeyboardInterrupt'
  problem.stack = `${problem.name}: ${problem.message}`
  return problem
}

function error (problem) {
  if (problem?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED') problem = interrupted()
  if (!(problem instanceof Error) && !util.types.isNativeError(problem)) {
    const text = util.inspect(problem, OPTIONS)
    return { name: 'Uncaught', value: text, traceback: [`Uncaught ${text}`] }
  }
  return {
    name: String(problem.name || 'Error'),
    value: String(problem.message ?? ''),
    traceback: traceback(problem).split('\n')
  }
}

function traceback (problem) {
  const stack = problem?.stack
  if (typeof stack !== 'string') return `Uncaught ${util.inspect(problem, OPTIONS)}`
  return stack.split('\n').filter(line => !/^\s+at /.test(line) || !OWN_FRAME.test(line)).join('\n')
}

module.exports = { bundle, error, interrupted, traceback }
