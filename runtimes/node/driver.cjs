// One JavaScript or TypeScript context: takes cells from descriptor 3, evaluates them, and answers on descriptor 4.
// Requests and answers are JSON, one a line; what the code prints goes to descriptors 1 and 2 as in any program.
'use strict'

const fs = require('node:fs')
const net = require('node:net')
const { Cells } = require('./cells.cjs')
const show = require('./show.cjs')

const REQUESTS = 3
const ANSWERS = 4

let stop = null

function answer (message) {
  const bytes = Buffer.from(JSON.stringify(message) + '\n')
  let sent = 0
  while (sent < bytes.length) sent += fs.writeSync(ANSWERS, bytes, sent)
}

// While a cell waits for something: the wait is given up. While it computes, the evaluation itself is broken off.
process.on('SIGINT', () => stop?.(show.interrupted()))
// What fails after its cell has ended has nobody to be reported to; the context goes on.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, problem => process.stderr.write(`${show.traceback(problem)}\n`))
}
// A program that prints after its reader has left is no reason to end the context.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const cells = new Cells(process.argv[2] === 'typescript')
globalThis.display = value => answer({ op: 'display', data: show.bundle(value) })

async function execute ({ code, env }) {
  const before = borrow(env ?? {})
  const interrupted = new Promise((resolve, reject) => { stop = reject })
  interrupted.catch(() => {})
  try {
    const value = await Promise.race([cells.run(code), interrupted])
    stop = null
    if (value !== undefined) answer({ op: 'result', data: show.bundle(value) })
    answer({ op: 'done', status: 'ok' })
  } catch (problem) {
    stop = null
    answer({ op: 'error', ...show.error(problem) })
    answer({ op: 'done', status: 'error' })
  } finally {
    Object.assign(process.env, before.changed)
    for (const name of before.added) delete process.env[name]
  }
}

// Variables of one run alone; what they hid comes back after it.
function borrow (env) {
  const names = Object.keys(env)
  const changed = Object.fromEntries(names.filter(name => name in process.env).map(name => [name, process.env[name]]))
  Object.assign(process.env, env)
  return { changed, added: names.filter(name => !(name in changed)) }
}

async function serve () {
  let rest = ''
  const decoder = new TextDecoder()
  // Not as a file: reading one takes a thread of the pool, and a process that leaves would wait for it for ever.
  for await (const chunk of new net.Socket({ fd: REQUESTS, readable: true, writable: false })) {
    rest += decoder.decode(chunk, { stream: true })
    for (let end; (end = rest.indexOf('\n')) >= 0;) {
      const request = JSON.parse(rest.slice(0, end))
      rest = rest.slice(end + 1)
      if (request.op === 'execute') await execute(request)
    }
  }
  process.exit(0)
}

answer({ op: 'ready', version: process.versions.node })
serve()
