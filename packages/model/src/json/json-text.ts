const QUOTE = 34
const BRACKET = 91
const BRACE = 123
/** Deeper values would overflow the stack when they are written again. */
const MAX_DEPTH = 1000
/** How many parsed texts are recalled, and of which lengths: a short one is parsed as quickly as it is found. */
const RECENT = 8
const MIN_KEPT_LENGTH = 128
const MAX_KEPT_LENGTH = 16 * 1024
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
  const isRecalled = isRecalling && text.length >= MIN_KEPT_LENGTH && text.length <= MAX_KEPT_LENGTH
  return isRecalled ? parseOrRecall(text) : parseOrKeep(text)
}

let isRecalling = false

/**
 * Within `read`, a text that was parsed lately is not parsed again. Agents say things twice: what a tool returned is in its own
 * span, and in the call after it. What is parsed is shared, so nobody may change it or pass it on.
 */
export function recallingJson<Result>(read: () => Result): Result {
  const before = isRecalling
  isRecalling = true
  try {
    return read()
  } finally {
    isRecalling = before
  }
}

function parseOrKeep(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return text.length >= MIN_TOO_DEEP_LENGTH && isDeeperThan(value, MAX_DEPTH) ? text : value
  } catch {
    return text
  }
}

const recent = Array.from({ length: RECENT }, () => ({ text: '', value: undefined as unknown }))
let oldest = 0

function parseOrRecall(text: string): unknown {
  for (const known of recent) if (known.text.length === text.length && known.text === text) return known.value
  const value = parseOrKeep(text)
  recent[oldest] = { text, value }
  oldest = (oldest + 1) % RECENT
  return value
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
