import { countOf, parseJson } from '@playhead/model'

/** The path to a child as it would be written in code: `orders[2].id`, `["odd key"]`. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

export type JsonEntry = { key: string | number; value: unknown }

export function entriesOf(value: object): JsonEntry[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => ({ key: index, value: item }))
  return Object.entries(value).map(([key, item]) => ({ key, value: item }))
}

export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** "3 items", "12 keys". */
export function describeSize(value: object): string {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length
  return countOf(count, Array.isArray(value) ? 'item' : 'key')
}

/** Parses text that is JSON; returns anything else unchanged. */
export function readJsonText(value: unknown): unknown {
  return typeof value === 'string' && value.length > 2_000_000 ? value : parseJson(value)
}
