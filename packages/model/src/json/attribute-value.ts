/** Reading values whose type the sender chose: numbers as text, booleans as text, lists as JSON. */

export type JsonObject = Record<string, unknown>

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function toObject(value: unknown): JsonObject {
  return isRecord(value) ? value : {}
}

export function toObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The text itself, whatever it says; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** False for empty values: null, NaN, "", {}, []. */
export function isMeaningful(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value !== ''
    case 'number':
      return !Number.isNaN(value)
    case 'object':
      if (value === null) return false
      if (Array.isArray(value)) return value.length > 0
      for (const key in value) if (Object.hasOwn(value, key)) return true
      return false
    case 'undefined':
      return false
    default:
      return true
  }
}

/** A finite number, or text that is one. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** A number that is not negative. */
export function toCount(value: unknown): number | undefined {
  const number = toNumber(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** No call has this many tokens; larger numbers are errors and would overflow sums. */
const MAX_TOKENS = 1e12

/** A plausible count of tokens, rounded. */
export function toTokens(value: unknown): number | undefined {
  const count = toCount(value)
  return count !== undefined && count <= MAX_TOKENS ? Math.round(count) : undefined
}

/** Placeholders that Google's ADK writes for missing values. */
function isPlaceholder(text: string): boolean {
  const first = text[0]
  if (first !== 'N' && first !== '<' && first !== '(') return false
  return text === 'N/A' || text === '<not specified>' || text === '(merged tools)'
}

/** Text that is not empty; numbers and booleans are converted. */
export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' || isPlaceholder(value) ? undefined : value
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : String(value)
  return typeof value === 'boolean' ? String(value) : undefined
}

export function toFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'True' || value === 1) return true
  if (value === 'false' || value === 'False' || value === 0) return false
  return undefined
}

/** The first value that is text and not empty. */
export function firstText(...values: unknown[]): string | undefined {
  for (const value of values) {
    const text = toText(value)
    if (text !== undefined) return text
  }
  return undefined
}

const unsafeKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** True for keys that could change an object's prototype. */
export function isUnsafeKey(key: string): boolean {
  return unsafeKeys.has(key)
}
