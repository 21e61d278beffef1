const FEWEST_WORDS = 5
const SAME_WORDING = 0.3

/** Text that people or models wrote, which says the same in many ways. */
export function isFreeText(value: unknown): value is string {
  return typeof value === 'string' && value.trim().split(/\s+/, FEWEST_WORDS).length === FEWEST_WORDS
}

/** True when two texts are likely to say the same: the same numbers and names, and enough of the same words. */
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
