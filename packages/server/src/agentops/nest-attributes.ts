import type { Attributes } from '@playhead/model'

type Tree = { [key: string]: unknown } | unknown[]

/** Nests attributes as AgentOps' API does: `a.b` goes inside `a`, `a.0.b` into a list. If two keys collide, the first wins. */
export function nestAttributes(attributes: Attributes): Tree {
  const root: Tree = Object.create(null) as { [key: string]: unknown }
  for (const key of Object.keys(attributes).sort(byNumber)) place(root, key.split('.'), attributes[key])
  return root
}

const { compare: byNumber } = new Intl.Collator('en', { numeric: true })

const listIndex = /^\d{1,5}$/

function place(root: Tree, path: readonly string[], value: unknown): void {
  let tree = root
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1
    const next = isLast ? value : (readKey(tree, key) ?? emptyTree(path[depth + 1]!))
    if (isLast ? readKey(tree, key) !== undefined : !isTree(next)) return
    if (!writeKey(tree, key, next)) return
    if (!isLast) tree = next as Tree
  }
}

function emptyTree(nextKey: string): Tree {
  return listIndex.test(nextKey) ? [] : (Object.create(null) as { [key: string]: unknown })
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null
}

function readKey(tree: Tree, key: string): unknown {
  return Array.isArray(tree) ? (listIndex.test(key) ? tree[Number(key)] : undefined) : tree[key]
}

function writeKey(tree: Tree, key: string, value: unknown): boolean {
  if (!Array.isArray(tree)) tree[key] = value
  // Lists have no holes: an index beyond the end is dropped.
  else if (listIndex.test(key) && Number(key) <= tree.length) tree[Number(key)] = value
  else return false
  return true
}
