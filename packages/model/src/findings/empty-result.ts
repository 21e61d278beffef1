import { isRecord } from '../json/attribute-value.ts'
import { isEmptyValue } from '../provenance/value-index.ts'

const nothing =
  /^(?:\[\]|\{\}|0(?:\.0+)?|none|null|nan|undefined|n\/a|no (?:results?|matches|data|records?)(?: (?:were )?found)?|not found|empty)\.?$/i
/** What terminals write before the output itself. */
const preamble = /^(?:exit ?code: 0[^\n]*\n)?(?:code output|output|stdout|result):\s*/i

const MAX_DEPTH = 4

/** True when a result has nothing in it beyond what the call was given. */
export function isEmptyResult(result: unknown, given: unknown): boolean {
  return isEmpty(result, valuesOf(given), 0)
}

function isEmpty(result: unknown, given: ReadonlySet<unknown>, depth: number): boolean {
  if (isEmptyValue(result) || result === 0) return true
  if (typeof result === 'string') return isNothing(result.trim().replace(preamble, '').trim())
  if (typeof result !== 'object' || result === null || depth > MAX_DEPTH) return false
  if (Array.isArray(result)) return result.length === 0
  if (!isRecord(result)) return false
  const entries = Object.values(result)
  const isList = (value: unknown) => Array.isArray(value) || value === null || value === ''
  // One list that is empty says more than the words around it: { query: "x", articles: [] }.
  return (
    entries.some(isList) && entries.every((value) => given.has(value) || isEmpty(value, given, depth + 1))
  )
}

function isNothing(text: string): boolean {
  return text === '' || nothing.test(text)
}

/** Every value that the call was given, at any depth. */
function valuesOf(given: unknown, found: Set<unknown> = new Set(), depth = 0): Set<unknown> {
  if (typeof given !== 'object' || given === null) return found.add(given)
  if (depth <= MAX_DEPTH) for (const value of Object.values(given)) valuesOf(value, found, depth + 1)
  return found
}
