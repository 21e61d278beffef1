import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseResult } from '../session/step-input-output.ts'
import { isMeasure } from './text-shape.ts'

/** A place where two values differ. A side without a value is undefined; the path of the whole value is empty. */
export type ValueDifference = { path: string; a: unknown; b: unknown }

/** Decides whether two texts that are not equal still say the same. */
export type TextComparison = { isSameText(a: string, b: string): boolean }

const MAX_DEPTH = 40

/**
 * Finds the first differences between two values, in the order of `a`. Ignores the order of keys and measured times.
 */
export function compareValues(
  a: unknown,
  b: unknown,
  comparison: TextComparison,
  most = 1,
): ValueDifference[] {
  const found: ValueDifference[] = []
  collect({ a, b, path: '', depth: 0 }, { comparison, found, most })
  return found
}

type Place = { a: unknown; b: unknown; path: string; depth: number }
type Search = { comparison: TextComparison; found: ValueDifference[]; most: number }

function collect({ path, depth, ...values }: Place, search: Search): void {
  if (search.found.length >= search.most) return
  const [a, b] = [parseResult(values.a), parseResult(values.b)]
  if (Object.is(a, b)) return
  if (isList(a) && isList(b) && depth < MAX_DEPTH) return collectItems({ a, b, path, depth }, search)
  if (isRecord(a) && isRecord(b) && depth < MAX_DEPTH) return collectKeys({ a, b, path, depth }, search)
  if (isText(a) && isText(b) && search.comparison.isSameText(String(a), String(b))) return
  search.found.push({ path, a, b })
}

function collectItems(
  { a, b, path, depth }: { a: unknown[]; b: unknown[]; path: string; depth: number },
  search: Search,
): void {
  const length = Math.max(a.length, b.length)
  for (let index = 0; index < length; index += 1)
    collect({ a: a[index], b: b[index], path: `${path}[${index}]`, depth: depth + 1 }, search)
}

function collectKeys(
  { a, b, path, depth }: { a: JsonObject; b: JsonObject; path: string; depth: number },
  search: Search,
): void {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (isMeasure(key) && typeof a[key] === 'number' && typeof b[key] === 'number') continue
    const inner = path === '' ? key : `${path}.${key}`
    collect({ a: a[key], b: b[key], path: inner, depth: depth + 1 }, search)
  }
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

/** Numbers may be timestamps. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
