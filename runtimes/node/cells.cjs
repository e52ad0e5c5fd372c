// Evaluates cells one after the other in one global scope, as a notebook does: declarations last and may be repeated,
// `await` and `import` work at the top, and the last expression is the value.
'use strict'

const { createRequire, stripTypeScriptTypes } = require('node:module')
const path = require('node:path')
const process = require('node:process')
const vm = require('node:vm')
const { rewrite } = require('./rewrite.cjs')

class Cells {
  constructor (typed) {
    this.typed = typed
    this.count = 0
    // Modules are looked for from the working folder, wherever that is by the time.
    globalThis.require = name => createRequire(path.join(process.cwd(), 'cell.js'))(name)
    globalThis.module = { exports: {} }
    globalThis.exports = globalThis.module.exports
    // `__importFrom` is what static imports become.
    Object.defineProperty(globalThis, '__importFrom', { value: name => this.load(name) })
  }

  async run (code) {
    this.count += 1
    const plain = this.typed ? stripTypeScriptTypes(code, { mode: 'transform' }) : code
    const { code: script, isAsync } = rewrite(plain)
    const filename = `cell-${this.count}.${this.typed ? 'ts' : 'js'}`
    const value = vm.runInThisContext(script, {
      filename,
      breakOnSigint: true,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    })
    return isAsync ? (await value).value : value
  }

  async load (name) {
    if (/^(node:|data:|file:|https?:)/.test(name)) return import(name)
    const found = createRequire(path.join(process.cwd(), 'cell.js')).resolve(name)
    return import(path.isAbsolute(found) ? require('node:url').pathToFileURL(found).href : found)
  }
}

module.exports = { Cells }
