const QUOTE = 34
const BRACKET = 91
const BRACE = 123
/** Deeper values would overflow the stack when they are written again. */
const MAX_DEPTH = 1000
/** Shorter texts cannot hold a value that is too deep. */
const MIN_TOO_DEEP_LENGTH = 2 * MAX_DEPTH

/** Parses a text that may be JSON, or JSON in JSON. Text that is not JSON is returned as it is. */
export function parseJsonText(text: string): unknown {
  const value = parseJsonOnce(text)
  return typeof value === 'string' && value !== text ? parseJsonOnce(value) : value
}

/** As `parseJsonText`, for any value; what is not text is returned as it is. */
export function parseJson(value: unknown): unknown {
  return typeof value === 'string' ? parseJsonText(value) : value
}

/** True for JSON that was cut by an attribute limit: it starts as JSON and does not end as such. */
export function isCutJson(text: string): boolean {
  const first = firstCharacter(text)
  if (first !== BRACE && first !== BRACKET) return false
  const last = text.trimEnd().at(-1)
  return first === BRACE ? last !== '}' : last !== ']'
}

/** Parses a text that may be JSON. A text in JSON stays text, whatever it says. */
export function parseJsonOnce(text: string): unknown {
  const first = firstCharacter(text)
  if (first !== BRACE && first !== BRACKET && first !== QUOTE) return text
  try {
    const value: unknown = JSON.parse(text)
    return text.length >= MIN_TOO_DEEP_LENGTH && isDeeperThan(value, MAX_DEPTH) ? text : value
  } catch {
    return text
  }
}

function firstCharacter(text: string): number {
  let index = 0
  while (index < text.length && text.charCodeAt(index) <= 32) index++
  return index < text.length ? text.charCodeAt(index) : 0
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object' && isDeeperThan(item, depth - 1)) return true
    }
    return false
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (typeof item === 'object' && isDeeperThan(item, depth - 1)) return true
  }
  return false
}
