import { UsageError } from '../terminal/cli-error.ts'

/** The known word that was probably meant; undefined when none is near. */
export function nearestWord(typed: string, known: readonly string[]): string | undefined {
  const word = typed.toLowerCase()
  if (word.length >= 2) {
    const begun = known.find((candidate) => candidate.startsWith(word))
    if (begun !== undefined) return begun
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

/** Letters to add, drop, change or swap with their neighbour. */
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

/** Refuses a word that is none of those known, and names the one that was meant. */
export function checkWord(name: string, word: string, known: readonly string[]): void {
  if (known.includes(word)) return
  const nearest = nearestWord(word, known)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new UsageError(`--${name} can't be "${word}".${meant}\nIt can be: ${known.join(', ')}`)
}

/** A whole number from 1 on, as it was typed behind an option. */
export function readCount(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0
  if (count < 1 || !Number.isSafeInteger(count))
    throw new UsageError(`${option} is "${text}"; it must be a whole number from 1 on.`)
  return count
}
