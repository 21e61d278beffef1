import { endOffsetMs, type AlignedRow, type Alignment } from '@playhead/model'
import type { ShownRows } from './compare-search.ts'

/** The indexes of the visible rows. */
export function visibleRows({ rows }: Alignment, shown: ShownRows): number[] {
  const isShown: Record<ShownRows, (row: AlignedRow) => boolean> = {
    all: () => true,
    differences: ({ differences }) => differences.length > 0,
    effects: ({ a, b }) => a?.effect === 'write' || b?.effect === 'write',
  }
  return rows.flatMap((row, index) => (isShown[shown](row) ? [index] : []))
}

/** The next or previous visible row with a difference. */
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

/** The row of a step of either session. */
export function rowOfStep({ rows }: Alignment, stepId: string | undefined): number | undefined {
  if (stepId === undefined) return undefined
  const found = rows.findIndex(({ a, b }) => a?.id === stepId || b?.id === stepId)
  return found < 0 ? undefined : found
}

/** The row to open at: the first divergence, else the first difference, else the first row. */
export function openingRow({ divergence, rows }: Alignment): number {
  if (divergence?.row !== undefined) return divergence.row
  return Math.max(
    0,
    rows.findIndex(({ differences }) => differences.length > 0),
  )
}

/** The time of a row on one side: the start of its step, or the end of the step before it. */
export function timeOfRow({ rows }: Alignment, row: number, side: 'a' | 'b'): number {
  const own = rows[row]?.[side]
  if (own !== undefined) return own.offsetMs
  for (let at = row - 1; at >= 0; at -= 1) {
    const step = rows[at]![side]
    if (step !== undefined) return endOffsetMs(step)
  }
  return 0
}

/** The row at a time on one side: the last one that started. */
export function rowAtTime({ rows }: Alignment, timeMs: number, side: 'a' | 'b'): number {
  let [found, startMs] = [0, -1]
  for (const [index, row] of rows.entries()) {
    const offsetMs = row[side]?.offsetMs
    if (offsetMs !== undefined && offsetMs <= timeMs && offsetMs >= startMs)
      [found, startMs] = [index, offsetMs]
  }
  return found
}
