import { UsageError } from '../terminal/cli-error.ts'

/** Rejects a value that is not one of the choices, and suggests the closest one. */
export function checkChoice(option: string, value: string, choices: readonly string[]): void {
  if (!choices.includes(value))
    throw new UsageError(
      `--${option} can't be "${value}".${didYouMean(value, choices)}\nAllowed values: ${choices.join(', ')}`,
    )
}

/** Parses a whole number of at least 1. */
export function parseCount(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count < 1 || !Number.isSafeInteger(count))
    throw new UsageError(`${option} must be a whole number of at least 1, not "${text}".`)
  return count
}

const expiryUnits = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** Parses `--expires`: `30d` from now, or a date. */
export function parseExpiry(text: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? []
  const atMs =
    count === undefined
      ? Date.parse(text)
      : nowMs + Number(count) * expiryUnits[unit as keyof typeof expiryUnits]
  const isDate = count !== undefined || /^\d{4}-\d\d-\d\d/.test(text)
  if (!isDate || !(atMs > nowMs))
    throw new UsageError(
      `--expires must be a time in the future such as 12h, 30d or 2027-01-31, not "${text}".`,
    )
  return new Date(atMs).toISOString()
}

/** A suggestion to append to an error, or nothing if no known word is close to what was typed. */
export function didYouMean(typed: string, known: readonly string[], prefix = ''): string {
  const nearest = nearestWord(typed, known)
  return nearest === undefined ? '' : ` Did you mean "${prefix}${nearest}"?`
}

function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const word = typed.toLowerCase()
  if (word.length >= 2) {
    const completed = known.find((candidate) => candidate.startsWith(word))
    if (completed !== undefined) return completed
  }
  const allowed = Math.max(1, Math.floor(word.length / 2))
  let nearest: { word: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(word, candidate)
    if (distance <= allowed && (nearest === undefined || distance < nearest.distance))
      nearest = { word: candidate, distance }
  }
  return nearest?.word
}

/** Damerau-Levenshtein: insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(from: string, to: string): number {
  let [beforeLast, last]: [number[], number[]] = [
    [],
    Array.from({ length: to.length + 1 }, (_, index) => index),
  ]
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      let distance = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
      )
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (isSwap) distance = Math.min(distance, beforeLast[column - 2]! + 1)
      current.push(distance)
    }
    ;[beforeLast, last] = [last, current]
  }
  return last[to.length]!
}
