import { isDivergent, isMinor, type AlignedRow, type Difference, type DifferenceKind } from '@playhead/model'

const words: Record<DifferenceKind, string> = {
  decision: 'other decision',
  prompt: 'other prompt',
  argument: 'other argument',
  result: 'other result',
  'missing-step': 'missing in B',
  'extra-step': 'only in B',
  'missing-effect': 'write missing in B',
  'added-effect': 'write only in B',
  'other-step': 'other step',
  'end-state': 'other end',
  input: 'other input',
  wording: 'other words',
  repeat: 'once more',
  nesting: 'other nesting',
}

/** What the middle of a row says: the weightiest difference in two or three words, with the place it is in. */
export function wordsOf({ differences }: AlignedRow): string | undefined {
  const difference = differences.find((candidate) => !isMinor(candidate)) ?? differences[0]
  if (difference === undefined) return undefined
  return words[difference.kind]
}

export function placeOf({ differences }: AlignedRow): string | undefined {
  return (differences.find((candidate) => !isMinor(candidate)) ?? differences[0])?.path
}

export type RowLook = 'same' | 'minor' | 'changed' | 'a-only' | 'b-only' | 'effect'

/** How a row looks; writes that only one session did stand out from everything. */
export function lookOf(row: AlignedRow): RowLook {
  if (row.differences.some(({ kind }) => kind === 'added-effect' || kind === 'missing-effect'))
    return 'effect'
  if (row.differences.length === 0) return 'same'
  if (!isDivergent(row)) return 'minor'
  if (row.a === undefined) return 'b-only'
  return row.b === undefined ? 'a-only' : 'changed'
}

/** Differences in the order in which they are told: those that matter first. */
export function inOrderOfWeight(differences: readonly Difference[]): Difference[] {
  return differences.toSorted((one, other) => Number(isMinor(one)) - Number(isMinor(other)))
}
