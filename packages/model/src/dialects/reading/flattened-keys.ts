import type { AttributeValue } from '../../otlp/span.ts'
import { isUnsafeKey, type JsonObject } from '../../json/attribute-value.ts'

/** The parts of a key like `messages.0.role`. */
export type KeyPath = readonly (string | number)[]

/** One attribute of a flattened list or object. */
export type FlatEntry = { path: KeyPath; value: AttributeValue }

const MAX_INDEX = 4096
const MAX_DEPTH = 16
const MAX_ENTRIES = 50_000
const digits = /^\d{1,5}$/

/** Splits a flattened key into its path; undefined for paths that are too deep or unsafe. */
export function parseKeyPath(rest: string): KeyPath | undefined {
  const path: (string | number)[] = []
  for (const segment of rest.split('.')) {
    if (path.length === MAX_DEPTH || segment === '' || isUnsafeKey(segment)) return undefined
    if (segment === '{i}') path.push(0)
    else if (digits.test(segment)) {
      const index = Number(segment)
      if (index > MAX_INDEX) return undefined
      path.push(index)
    } else path.push(segment)
  }
  return path
}

type Branch = Map<string | number, Branch | Leaf>
type Leaf = { value: AttributeValue }

/** Rebuilds the lists and objects of flattened entries. Lists are sorted by index, without gaps. */
function unflatten(entries: readonly FlatEntry[]): unknown {
  const root: Branch = new Map()
  const count = Math.min(entries.length, MAX_ENTRIES)
  for (let index = 0; index < count; index++) plant(root, entries[index]!)
  return toPlain(root)
}

/** As `unflatten`, for groups that are lists; drops entries without an index (`gen_ai.prompt.name`). */
export function unflattenList(entries: readonly FlatEntry[] | undefined): unknown[] {
  if (entries === undefined) return []
  const value = unflatten(entries.filter(({ path }) => typeof path[0] === 'number'))
  return Array.isArray(value) ? value : []
}

function plant(root: Branch, entry: FlatEntry): void {
  let branch = root
  const last = entry.path.length - 1
  for (let depth = 0; depth < last; depth++) {
    const segment = entry.path[depth]!
    let next = branch.get(segment)
    if (!(next instanceof Map)) {
      next = new Map()
      branch.set(segment, next)
    }
    branch = next
  }
  const name = entry.path[last]!
  if (!(branch.get(name) instanceof Map)) branch.set(name, { value: entry.value })
}

function toPlain(branch: Branch): unknown {
  const keys = [...branch.keys()]
  if (keys.every((key) => typeof key === 'number')) {
    keys.sort((left, right) => left - right)
    return keys.map((key) => plainChild(branch, key))
  }
  const record = Object.create(null) as JsonObject
  for (const key of keys) record[key] = plainChild(branch, key)
  return record
}

function plainChild(branch: Branch, key: string | number): unknown {
  const child = branch.get(key)!
  return child instanceof Map ? toPlain(child) : child.value
}
