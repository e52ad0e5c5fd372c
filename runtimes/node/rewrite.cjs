// Turns a cell into a script that can run beside all earlier ones: what it declares becomes global and may be declared
// again, static imports become calls, and a cell that awaits becomes an async function with its last value returned.
'use strict'

const acorn = require('acorn')

const OPTIONS = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  allowReturnOutsideFunction: false,
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: false
}

function rewrite (code) {
  let tree
  try {
    tree = acorn.parse(code, OPTIONS)
  } catch {
    // Sloppy code that is no module (`with`, octal numbers), or an error, which V8 words better than a parser does.
    return { code, isAsync: false }
  }
  const edits = new Edits(code)
  const isAsync = tree.body.some(hasAwait) || tree.body.some(node => node.type === 'ImportDeclaration')
  const hoisted = []
  for (const node of tree.body) rewriteStatement(node, edits, hoisted, isAsync)
  if (!isAsync) return { code: edits.result(), isAsync }
  const last = tree.body.at(-1)
  if (last?.type === 'ExpressionStatement') {
    // In parentheses of its own, so that a trailing comment or semicolon does no harm.
    edits.replace(last.start, last.expression.start, 'return { value: (')
    edits.replace(last.expression.end, last.end, ') };')
  }
  const names = [...new Set(hoisted)]
  const declared = names.length > 0 ? `var ${names.join(', ')};` : ''
  // On one line with the first of the cell: line numbers of errors stay those of the cell.
  return { code: `${declared}(async () => {${edits.result()}\nreturn { value: undefined };})()`, isAsync }
}

function rewriteStatement (node, edits, hoisted, isAsync) {
  switch (node.type) {
    case 'VariableDeclaration':
      rewriteVariables(node, edits, hoisted, isAsync)
      break
    case 'ClassDeclaration':
      hoisted.push(node.id.name)
      edits.insert(node.start, isAsync ? `${node.id.name} = ` : `var ${node.id.name} = `)
      edits.insert(node.end, ';')
      break
    case 'FunctionDeclaration':
      if (isAsync) {
        hoisted.push(node.id.name)
        // Moved to the front, where a declared function would be known from.
        edits.front(`${node.id.name} = ${edits.text(node.start, node.end)};`)
        edits.blank(node.start, node.end)
      }
      break
    case 'ImportDeclaration':
      rewriteImport(node, edits, hoisted)
      break
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      if (node.declaration) {
        edits.blank(node.start, node.declaration.start)
        rewriteStatement(node.declaration, edits, hoisted, isAsync)
      } else {
        edits.blank(node.start, node.end)
      }
      break
    case 'ForStatement': case 'ForInStatement': case 'ForOfStatement': case 'BlockStatement': case 'IfStatement':
    case 'TryStatement': case 'WhileStatement': case 'DoWhileStatement': case 'SwitchStatement': case 'LabeledStatement':
      if (isAsync) for (const found of varsWithin(node)) rewriteNestedVar(found, edits, hoisted)
      break
    default:
  }
}

function rewriteVariables (node, edits, hoisted, isAsync) {
  const names = node.declarations.flatMap(declaration => namesIn(declaration.id))
  hoisted.push(...names)
  if (!isAsync) {
    if (node.kind !== 'var') edits.replace(node.start, node.start + node.kind.length, 'var')
    // A declaration without a value makes the name undefined again, as a fresh one would be.
    for (const { id, init } of node.declarations) if (!init && node.kind === 'let') edits.insert(id.end, ' = undefined')
    return
  }
  edits.replace(node.start, node.declarations[0].start, '(')
  for (const { id, init, end } of node.declarations) if (!init) edits.insert(end, id.type === 'Identifier' && node.kind !== 'var' ? ' = undefined' : '')
  edits.insert(node.declarations.at(-1).end, ')')
}

// `var` inside blocks belongs to the cell, not to the function that the cell becomes.
function rewriteNestedVar ({ node, inHead }, edits, hoisted) {
  hoisted.push(...node.declarations.flatMap(declaration => namesIn(declaration.id)))
  edits.replace(node.start, node.declarations[0].start, inHead ? '' : '(')
  if (!inHead) edits.insert(node.declarations.at(-1).end, ')')
}

function rewriteImport (node, edits, hoisted) {
  const call = `await __importFrom(${JSON.stringify(node.source.value)})`
  const parts = []
  let whole = null
  for (const specifier of node.specifiers) {
    const local = specifier.local.name
    hoisted.push(local)
    if (specifier.type === 'ImportNamespaceSpecifier') whole = local
    else if (specifier.type === 'ImportDefaultSpecifier') parts.push(`default: ${local}`)
    else parts.push(`${JSON.stringify(specifier.imported.name ?? specifier.imported.value)}: ${local}`)
  }
  let code = `${call};`
  if (whole && parts.length > 0) code = `${whole} = ${call}; ({ ${parts.join(', ')} } = ${whole});`
  else if (whole) code = `${whole} = ${call};`
  else if (parts.length > 0) code = `({ ${parts.join(', ')} } = ${call});`
  edits.replace(node.start, node.end, code)
}

function namesIn (pattern) {
  switch (pattern?.type) {
    case 'Identifier': return [pattern.name]
    case 'ObjectPattern': return pattern.properties.flatMap(property => namesIn(property.value ?? property.argument))
    case 'ArrayPattern': return pattern.elements.flatMap(namesIn)
    case 'AssignmentPattern': return namesIn(pattern.left)
    case 'RestElement': return namesIn(pattern.argument)
    default: return []
  }
}

function children (node) {
  return Object.values(node).flat().filter(value => value && typeof value.type === 'string')
}

const OWN_SCOPE = /Function|^MethodDefinition$|^PropertyDefinition$|^StaticBlock$/

function hasAwait (node) {
  if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)) return true
  if (OWN_SCOPE.test(node.type)) return false
  return children(node).some(hasAwait)
}

function varsWithin (node, parent) {
  if (OWN_SCOPE.test(node.type)) return []
  if (node.type === 'VariableDeclaration' && node.kind === 'var') {
    // Without parentheses: what stands before `of` and `in` is a target, not an expression.
    return [{ node, inHead: (parent?.type === 'ForOfStatement' || parent?.type === 'ForInStatement') && parent.left === node }]
  }
  return children(node).flatMap(child => varsWithin(child, node))
}

class Edits {
  constructor (code) {
    this.code = code
    this.list = []
    this.first = ''
  }

  text (start, end) { return this.code.slice(start, end) }
  replace (start, end, text) { this.list.push({ start, end, text, order: this.list.length }) }
  insert (at, text) { this.replace(at, at, text) }
  front (text) { this.first += text.replace(/\n/g, ' \n') }

  // Keeps the line breaks, so that later lines keep their numbers.
  blank (start, end) { this.replace(start, end, this.text(start, end).replace(/[^\n]/g, '')) }

  result () {
    let out = ''
    let at = 0
    for (const { start, end, text } of this.list.sort((a, b) => a.start - b.start || a.order - b.order)) {
      out += this.code.slice(at, start) + text
      at = end
    }
    return this.first + out + this.code.slice(at)
  }
}

module.exports = { rewrite }
