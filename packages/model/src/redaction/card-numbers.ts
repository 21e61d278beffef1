import { REDACTED } from './secret-keys.ts'

/** Spaces and hyphens of all kinds. */
const separators = ' \\u00a0\\u2009\\u202f\\u2010-\\u2013-'

/** A quick test that most texts fail: a number that starts like a card's. */
export const cardSign = new RegExp(`[2-68](?<!\\d.)\\d{3}(?:[${separators}]?\\d){9}`)
const digitRun = new RegExp(`\\d(?:[${separators}]?\\d){12,63}`, 'g')
const separator = new RegExp(`[${separators}]`)

/** Masks card numbers. */
export function maskCards(text: string): string {
  return text.replace(digitRun, (run: string, offset: number) => maskRun(run, offset, text))
}

/** A card number may be next to other numbers: its date, an order, another card. */
function maskRun(run: string, offset: number, text: string): string {
  const groups = run.split(separator)
  const isFirstFree = isFree(text, offset - 1, -1)
  const isLastFree = isFree(text, offset + run.length, 1)
  let masked = ''
  let from = 0
  let start = 0
  for (let first = 0; first < groups.length;) {
    const count =
      first > 0 || isFirstFree ? countOfCard(groups, first, { isFirstFree, isLastFree }) : undefined
    const length = lengthOf(groups, first, count ?? 1)
    if (count !== undefined) {
      masked += run.slice(from, start) + maskOf(text, offset + start)
      from = start + length
    }
    start += length + 1
    first += count ?? 1
  }
  return masked + run.slice(from)
}

/** How card numbers are printed: digits per group. */
const layouts = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
]

/** The number of groups that form a card number from here; undefined when none starts here. */
function countOfCard(
  groups: readonly string[],
  first: number,
  { isFirstFree, isLastFree }: { isFirstFree: boolean; isLastFree: boolean },
): number | undefined {
  const rest = groups.length - first
  const isPossible = (count: number) =>
    count <= rest && (isLastFree || count < rest) && isCardNumber(groups.slice(first, first + count).join(''))
  if (first === 0 && isFirstFree && rest <= MAX_DIGITS && isPossible(rest)) return rest
  const layout = layouts.find(
    (sizes) =>
      sizes.every((size, index) => groups[first + index]?.length === size) && isPossible(sizes.length),
  )
  if (layout !== undefined) return layout.length
  return groups[first]!.length >= MIN_DIGITS && isPossible(1) ? 1 : undefined
}

const MIN_DIGITS = 13
const MAX_DIGITS = 19

/** The length of the groups with their separators. */
function lengthOf(groups: readonly string[], first: number, count: number): number {
  let length = count - 1
  for (let index = first; index < first + count; index += 1) length += groups[index]!.length
  return length
}

/** True when the number ends here: no digit, letter (of a hash) or decimals follow. */
function isFree(text: string, index: number, step: 1 | -1): boolean {
  const beside = text[index]
  if (beside === undefined) return true
  if (beside === '.') return !/\d/.test(text[index + step] ?? '')
  if (!/\w/.test(beside)) return true
  return step === -1 && /\\(?:[bfnrt]|u[\da-f]{4})$/i.test(text.slice(Math.max(0, index - 5), index + 1))
}

/** Prefixes and lengths of each issuer's numbers. */
const issuers: readonly [beginning: RegExp, lengths: readonly number[]][] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[689])/, [14, 15, 16, 17, 18, 19]],
  [/^(?:6011|64[4-9]|65|62|81|35(?:2[89]|[3-8]))/, [16, 17, 18, 19]],
  [/^(?:50|5[6-9]|6[0-9])/, [13, 14, 15, 16, 17, 18, 19]],
]

/** True for a valid card number: prefix and length of an issuer, and Luhn's check digit. */
function isCardNumber(digits: string): boolean {
  if (!issuers.some(([beginning, lengths]) => lengths.includes(digits.length) && beginning.test(digits)))
    return false
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Replaces a number in JSON with a string, so that it stays valid JSON. */
function maskOf(text: string, index: number): string {
  const key = /(\\{0,16})"\s?:\s?$/.exec(text.slice(Math.max(0, index - 20), index))
  return key === null ? REDACTED : `${key[1]}"${REDACTED}${key[1]}"`
}
