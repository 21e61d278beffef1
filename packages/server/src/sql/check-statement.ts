import { KnownError } from '../errors/known-error.ts'
import { isAllowedFunction } from './allowed-functions.ts'

type Node = { depth: number; type: string; text: string; children: Node[] }

/** What a query may be made of. A setting, a parameter or a statement that is no SELECT is none of these. */
const allowedNodes = new Set([
  'SelectWithUnionQuery',
  'SelectQuery',
  'SelectIntersectExceptQuery',
  'ExpressionList',
  'Identifier',
  'Literal',
  'Function',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'TableExpression',
  'TableIdentifier',
  'TableJoin',
  'ArrayJoin',
  'Subquery',
  'WithElement',
  'Asterisk',
  'QualifiedAsterisk',
  'ColumnsRegexpMatcher',
  'ColumnsTransformerList',
  'ColumnsExceptTransformer',
  'OrderByElement',
  'WindowDefinition',
  'WindowListElement',
])

/**
 * Refuses a statement that could reach beyond the tables of a project. `sql` is the statement as the engine writes it, and
 * `tree` its syntax tree, one node a line, also from the engine.
 */
export function checkStatement(sql: string, tree: readonly string[]): void {
  checkNames(sql)
  const [root, ...others] = parseTree(tree)
  if (root?.type !== 'SelectWithUnionQuery' || others.length > 0 || root.children.length !== 1)
    throw refuse('Only one SELECT is allowed, without FORMAT, SETTINGS or INTO OUTFILE')
  checkNode(root, undefined)
}

/** A name with a line break would add lines to the tree. In the engine's own text only names are in backquotes. */
function checkNames(sql: string): void {
  for (const [quoted] of sql.matchAll(/'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\])*"/gs)) {
    if (quoted.startsWith("'")) continue
    if (!/^[\w .:/-]*$/.test(quoted.slice(1, -1)))
      throw refuse(`${quoted.slice(0, 60)} has characters that names can't have here`)
  }
}

function parseTree(lines: readonly string[]): Node[] {
  const roots: Node[] = []
  const open: Node[] = []
  for (const line of lines) {
    const [, indent = '', type = '', rest = ''] = /^( *)(\w+) ?(.*)$/s.exec(line) ?? []
    const text = rest.replace(/ ?\(children \d+\)$/, '').replace(/ ?\(alias .*\)$/, '')
    const node: Node = { depth: indent.length, type, text, children: [] }
    while (open.length > 0 && open.at(-1)!.depth >= node.depth) open.pop()
    const parent = open.at(-1)
    if (parent === undefined) roots.push(node)
    else parent.children.push(node)
    open.push(node)
  }
  return roots
}

function checkNode(node: Node, parent: Node | undefined): void {
  const { type, text, children } = node
  if (!allowedNodes.has(type))
    throw refuse(`A query can't contain ${type === '' ? 'this' : describeNode(type)}`)
  if (type === 'TableIdentifier' && text.includes('.'))
    throw refuse(`There is no table ${text.slice(0, 100)}; name tables without a database`)
  if (type === 'Function') {
    if (parent?.type === 'TableExpression') throw refuse(`${text}() is not a table; table functions are off`)
    if (!isAllowedFunction(text)) throw refuse(`The function ${text} is not available`)
    if (/^(?:not)?in$/i.test(text) && children[0]?.children[1]?.type === 'Identifier')
      throw refuse(`What is on the right of ${text.toUpperCase()} must be a list or a subquery, not a name`)
  }
  for (const child of children) checkNode(child, node)
}

function describeNode(type: string): string {
  if (type === 'Set') return 'SETTINGS'
  return type === 'QueryParameter' ? 'a parameter' : `this kind of statement or clause (${type})`
}

function refuse(reason: string): KnownError {
  return new KnownError(
    'SQL_REFUSED',
    `${reason}. docs/reach.md lists the tables and what a query can contain.`,
  )
}
