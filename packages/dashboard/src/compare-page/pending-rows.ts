import { isDivergent, isMinor, type AlignedRow, type Alignment, type Difference } from '@playhead/model'

/** An alignment whose sessions may still run: `pending` are the rows that one of them has not reached yet. */
export type LiveAlignment = Alignment & { isRunning: boolean; pending: ReadonlySet<number> }

type Running = { a: boolean; b: boolean }

/** What a running session has not done yet is no difference. */
export function withoutPending(alignment: Alignment, isRunning: Running): LiveAlignment {
  if (!isRunning.a && !isRunning.b) return { ...alignment, isRunning: false, pending: new Set() }
  const { rows } = alignment
  const last = {
    a: isRunning.a ? rows.findLastIndex(({ a }) => a !== undefined) : Infinity,
    b: isRunning.b ? rows.findLastIndex(({ b }) => b !== undefined) : Infinity,
  }
  const isPending = (row: AlignedRow, index: number) =>
    (row.a === undefined && index > last.a) || (row.b === undefined && index > last.b)
  const pending = new Set([...rows.keys()].filter((index) => isPending(rows[index]!, index)))
  const shown = rows.map((row, index) => ({
    ...row,
    differences: pending.has(index) ? [] : row.differences.filter((difference) => isKnown(row, difference)),
  }))
  return {
    ...alignment,
    rows: shown,
    divergence: firstDivergence(shown),
    effects: alignment.effects.filter(({ row }) => !pending.has(row)),
    isRunning: true,
    pending,
  }
}

const outcomes: ReadonlySet<Difference['kind']> = new Set(['result', 'decision', 'wording'])

/** A step that still runs has no outcome to compare. */
function isKnown({ a, b }: AlignedRow, { kind }: Difference): boolean {
  return (a?.status !== 'running' && b?.status !== 'running') || !outcomes.has(kind)
}

function firstDivergence(rows: readonly AlignedRow[]): Alignment['divergence'] {
  const row = rows.findIndex(isDivergent)
  const difference = rows[row]?.differences.find((candidate) => !isMinor(candidate))
  return difference === undefined ? null : { ...difference, row }
}

/** The last row that the running session has reached. */
export function lastReachedRow({ rows, pending }: LiveAlignment): number {
  const last = rows.findLastIndex((_row, index) => !pending.has(index))
  return Math.max(0, last)
}
