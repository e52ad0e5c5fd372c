// For a Node.js that cannot take the types off TypeScript: gives it the function by which later ones do, made of the
// package that those have built in.
'use strict'

const nodeModule = require('node:module')
const { transformSync } = require('amaro')

nodeModule.stripTypeScriptTypes = (code, { mode }) => {
  try {
    return transformSync(code, { mode }).code
  } catch (problem) {
    // It throws plain objects; the cell's author is to see the error that Node.js itself would give.
    throw Object.assign(new SyntaxError(problem.message ?? String(problem)), { code: 'ERR_INVALID_TYPESCRIPT_SYNTAX' })
  }
}
