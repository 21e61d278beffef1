import { UsageError } from '../terminal/cli-error.ts'
import { nearestWord } from './nearest-word.ts'

/** Refuses a word that is none of those known, and names the one that was meant. */
export function checkWord(name: string, word: string, known: readonly string[]): void {
  if (known.includes(word)) return
  const nearest = nearestWord(word, known)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new UsageError(`--${name} can't be "${word}".${meant}\nIt can be: ${known.join(', ')}`)
}
