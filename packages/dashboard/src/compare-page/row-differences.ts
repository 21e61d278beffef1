import { isDivergent, isMinor, type AlignedRow, type Difference, type DifferenceKind } from '@playhead/model'

const labels: Record<DifferenceKind, string> = {
  decision: 'different decision',
  prompt: 'different prompt',
  argument: 'different argument',
  result: 'different result',
  'missing-step': 'missing in B',
  'extra-step': 'only in B',
  'missing-effect': 'write missing in B',
  'added-effect': 'write only in B',
  'other-step': 'different step',
  'end-state': 'different end state',
  input: 'different input',
  wording: 'different wording',
  repeat: 'repeated',
  nesting: 'different nesting',
}

/** A short label for the most important difference of a row. */
export function differenceLabel({ differences }: AlignedRow): string | undefined {
  const difference = differences.find((candidate) => !isMinor(candidate)) ?? differences[0]
  if (difference === undefined) return undefined
  return labels[difference.kind]
}

/** Where in the step's values that difference is. */
export function differencePath({ differences }: AlignedRow): string | undefined {
  return (differences.find((candidate) => !isMinor(candidate)) ?? differences[0])?.path
}

export type RowLook = 'same' | 'minor' | 'changed' | 'a-only' | 'b-only' | 'effect'

/** The style of a row. Writes that only one session has stand out most. */
export function rowLook(row: AlignedRow): RowLook {
  if (row.differences.some(({ kind }) => kind === 'added-effect' || kind === 'missing-effect'))
    return 'effect'
  if (row.differences.length === 0) return 'same'
  if (!isDivergent(row)) return 'minor'
  if (row.a === undefined) return 'b-only'
  return row.b === undefined ? 'a-only' : 'changed'
}

/** Puts minor differences last. */
export function sortByImportance(differences: readonly Difference[]): Difference[] {
  return differences.toSorted((one, other) => Number(isMinor(one)) - Number(isMinor(other)))
}
