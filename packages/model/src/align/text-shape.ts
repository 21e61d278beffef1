/** A piece of text that differs between runs of the same program: an id or a time. */
export type VolatileToken = { text: string; shape: string }

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const time = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,12})?)?(?:Z|[+-]\d\d:?\d\d)?`
// No id is longer, and the engine runs out of stack on megabytes of digits.
const hex = '(?=[0-9a-f]{0,512}[0-9])(?=[0-9a-f]{0,512}[a-f])[0-9a-f]{12,512}'
const prefixed =
  '[A-Za-z]{2,12}[_-](?=[A-Za-z0-9]{0,512}[0-9])(?=[A-Za-z0-9]{0,512}[A-Za-z])[A-Za-z0-9]{8,512}'
const epoch = String.raw`(?:1[5-9]|2[01])\d{8}(?:\d{3})?(?:\.\d{1,12})?`
const volatile = new RegExp(
  String.raw`\b(?:(${uuid})|(${time})|(${hex})|(${prefixed})|(${epoch}))(?![A-Za-z0-9_])`,
  'gi',
)

/** A cheap test that most texts fail: four digits in a row, or hex with a dash. */
const mayHaveTokens = /\d[0-9a-f-]{3}|[_-][A-Za-z0-9]{8}/i

/** Replaces each id and time in the text with a placeholder and reports it to `onToken`. */
export function shapeOfText(text: string, onToken?: (token: VolatileToken) => void): string {
  return replaceTokens(text, (token) => {
    onToken?.(token)
    return token.shape
  })
}

/** Replaces each id and time in the text. */
export function replaceTokens(text: string, replace: (token: VolatileToken) => string): string {
  if (!mayHaveTokens.test(text)) return text
  return text.replaceAll(volatile, (match: string, ...groups: (string | undefined)[]) =>
    replace({ text: match, shape: shapeOf(match, groups) }),
  )
}

function shapeOf(match: string, [isUuid, isTime, isHex, isPrefixed]: (string | undefined)[]): string {
  if (isUuid !== undefined) return '⟨uuid⟩'
  if (isTime !== undefined) return TIME_SHAPE
  if (isHex !== undefined) return `⟨hex${match.length}⟩`
  if (isPrefixed !== undefined) return `⟨${match.slice(0, match.search(/[_-]/) + 1)}id⟩`
  return TIME_SHAPE
}

export const TIME_SHAPE = '⟨time⟩'

/** Parses a date and time, or an epoch in seconds or milliseconds, to milliseconds since 1970. */
export function readTimeToken(text: string): number {
  if (!/^[\d.]+$/.test(text)) return Date.parse(text.replace(',', '.'))
  const count = Number(text)
  return count < 1e11 ? count * 1000 : count
}

/** True for keys of measurements, such as durations. */
export function isMeasure(key: string): boolean {
  return /^(duration|elapsed|latency|took|timestamp|uptime)$|(?:duration|elapsed|latency|took|timestamp|time|wall)_?(?:ms|seconds|secs|ns|us)$/i.test(
    key,
  )
}

/** A 53-bit hash of a text. */
export function hashText(text: string, seed = 0): number {
  let high = 0xdeadbeef ^ seed
  let low = 0x41c6ce57 ^ seed
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 4294967296 * (2097151 & low) + (high >>> 0)
}

const FEWEST_WORDS = 5
const SAME_WORDING = 0.3

/** True for text that people or models wrote, which never repeats exactly. */
export function isFreeText(value: unknown): value is string {
  return typeof value === 'string' && value.trim().split(/\s+/, FEWEST_WORDS).length === FEWEST_WORDS
}

/** True when two texts probably say the same: equal numbers and names, and enough words in common. */
export function isSameInOtherWords(a: string, b: string): boolean {
  if (!isFreeText(a) || !isFreeText(b)) return false
  const [left, right] = [wordsOf(a), wordsOf(b)]
  if (!hasSameFigures(left, right)) return false
  const shared = [...left].filter((word) => right.has(word)).length
  return shared / (left.size + right.size - shared) >= SAME_WORDING
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? [])
}

function hasSameFigures(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  const figures = (words: ReadonlySet<string>) =>
    [...words]
      .filter((word) => /\d/.test(word))
      .toSorted()
      .join()
  return figures(left) === figures(right)
}
