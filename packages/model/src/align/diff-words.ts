import { NEVER } from './align-exactly.ts'
import { alignLists } from './align-lists.ts'
import { hashText } from './text-shape.ts'

/** A piece of text that is in both texts or only in one. */
export type WordDifference = { kind: 'same' | 'a' | 'b'; text: string }

const WORD = 2
const SPACE = 0.2
const MAX_WORDS = 20_000

/** Compares two texts word by word, or line by line if they are very long. */
export function diffWords(a: string, b: string): WordDifference[] {
  const [left, right] = [splitWords(a), splitWords(b)]
  if (left.length <= MAX_WORDS && right.length <= MAX_WORDS) return diffPieces(left, right)
  return diffPieces(splitLines(a), splitLines(b))
}

function splitWords(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
}

function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/)
}

function diffPieces(left: readonly string[], right: readonly string[]): WordDifference[] {
  const fingerprints = {
    left: left.map((word) => hashText(word)),
    right: right.map((word) => hashText(word)),
  }
  const pairs = alignLists({
    leftCount: left.length,
    rightCount: right.length,
    score: (one, other) => {
      if (fingerprints.left[one] !== fingerprints.right[other]) return NEVER
      return /[\p{L}\p{N}]/u.test(left[one]!) ? WORD : SPACE
    },
    anchors: [fingerprints],
  })
  const pieces: WordDifference[] = []
  const add = (kind: WordDifference['kind'], words: readonly string[]) => {
    if (words.length === 0) return
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += words.join('')
    else pieces.push({ kind, text: words.join('') })
  }
  let [one, other] = [0, 0]
  for (const [pairLeft, pairRight] of [...pairs, [left.length, right.length] as const]) {
    add('a', left.slice(one, pairLeft))
    add('b', right.slice(other, pairRight))
    add('same', left.slice(pairLeft, pairLeft + 1))
    one = pairLeft + 1
    other = pairRight + 1
  }
  return pieces
}
