import { endOffsetMs, type AlignedRow, type Alignment } from '@playhead/model'
import type { ShownRows } from './compare-search.ts'

/** Positions of the rows that are shown. */
export function visibleRows({ rows }: Alignment, shown: ShownRows): number[] {
  const isShown: Record<ShownRows, (row: AlignedRow) => boolean> = {
    all: () => true,
    differences: ({ differences }) => differences.length > 0,
    effects: ({ a, b }) => a?.effect === 'write' || b?.effect === 'write',
  }
  return rows.flatMap((row, index) => (isShown[shown](row) ? [index] : []))
}

/** The next row after this one, or before it, where something differs. */
export function nextDifference(
  { rows }: Alignment,
  from: number,
  direction: 1 | -1,
  isShown: ReadonlySet<number>,
): number | undefined {
  for (let at = from + direction; at >= 0 && at < rows.length; at += direction)
    if (rows[at]!.differences.length > 0 && isShown.has(at)) return at
  return undefined
}

/** The row that a step of either session is in. */
export function rowOfStep({ rows }: Alignment, stepId: string | undefined): number | undefined {
  if (stepId === undefined) return undefined
  const found = rows.findIndex(({ a, b }) => a?.id === stepId || b?.id === stepId)
  return found < 0 ? undefined : found
}

/** Where the page opens: at the first divergence, else at the first difference, else at the start. */
export function openingRow({ divergence, rows }: Alignment): number {
  if (divergence?.row !== undefined) return divergence.row
  return Math.max(
    0,
    rows.findIndex(({ differences }) => differences.length > 0),
  )
}

/** When a row happens on one side: its step's start, or the end of the last step before it that this side has. */
export function timeOfRow({ rows }: Alignment, row: number, side: 'a' | 'b'): number {
  const own = rows[row]?.[side]
  if (own !== undefined) return own.offsetMs
  for (let at = row - 1; at >= 0; at -= 1) {
    const step = rows[at]![side]
    if (step !== undefined) return endOffsetMs(step)
  }
  return 0
}

/** The row that runs on one side at a moment: the last that had begun. */
export function rowAtTime({ rows }: Alignment, timeMs: number, side: 'a' | 'b'): number {
  let [found, startMs] = [0, -1]
  for (const [index, row] of rows.entries()) {
    const offsetMs = row[side]?.offsetMs
    if (offsetMs !== undefined && offsetMs <= timeMs && offsetMs >= startMs)
      [found, startMs] = [index, offsetMs]
  }
  return found
}
