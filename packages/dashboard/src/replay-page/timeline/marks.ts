import { ownsError, type StepKind } from '@playhead/model'
import type { Lane } from './lanes.ts'
import type { RunningTotals } from '../playback/running-totals.ts'
import type { TimeScale } from '../playback/time-scale.ts'
import type { Timeline } from '../playback/timeline.ts'

/**
 * A rectangle in a lane. `busy` is the share of it that was busy, from 0 to 1; `isTaped`: the tape of a re-run answered.
 */
export type Mark = {
  x: number
  width: number
  row: number
  colour: StepKind | 'error'
  busy: number
  isTaped?: true
}

const MIN_WIDTH = 2
const MIN_ERROR_WIDTH = 3
/** Wider marks leave a pixel before the next one. */
const SPACED_FROM = 4
/** Steps too short to see are counted in cells: the busier a cell, the stronger its colour. */
const CELL_WIDTH = 2
const FAINTEST = 0.25

/** The marks of one lane: never many more than pixels, however many steps. Errors come last, so they are on top. */
export function findMarks(lane: Lane, timeline: Timeline, scale: TimeScale): Mark[] {
  const marks: Mark[] = []
  const errors: Mark[] = []
  const cells: (Mark | undefined)[] = []
  const lastErrorX: number[] = []
  for (let index = 0; index < lane.positions.length; index += 1) {
    const position = lane.positions[index]!
    const from = scale.toX(timeline.startsMs[position]!)
    const to = scale.toX(Math.min(timeline.endsMs[position]!, timeline.durationMs))
    if (to < 0 || from > scale.widthPx) continue
    const row = lane.rows[index]!
    const step = timeline.steps[position]!
    const taped = step.source === 'tape' ? ({ isTaped: true } as const) : {}
    if (ownsError(step)) {
      if (from - (lastErrorX[row] ?? -Infinity) < 1) continue
      lastErrorX[row] = from
      errors.push({ ...placed(from, to, scale), row, colour: 'error', busy: 1, ...taped })
    } else if (to - from < CELL_WIDTH) {
      const cell = Math.floor(from / CELL_WIDTH)
      const last = cells[row]
      if (
        last === undefined ||
        last.x !== cell * CELL_WIDTH ||
        last.colour !== step.kind ||
        last.isTaped !== taped.isTaped
      )
        marks.push(
          (cells[row] = {
            x: cell * CELL_WIDTH,
            width: CELL_WIDTH,
            row,
            colour: step.kind,
            busy: 0,
            ...taped,
          }),
        )
      cells[row]!.busy += (to - from) / CELL_WIDTH
    } else {
      marks.push({ ...placed(from, to, scale), row, colour: step.kind, busy: 1, ...taped })
    }
  }
  for (const mark of marks) mark.busy = FAINTEST + (1 - FAINTEST) * Math.min(1, mark.busy)
  for (const mark of errors) mark.width = Math.max(mark.width, MIN_ERROR_WIDTH)
  return isSparse(marks, scale) ? solid(marks.concat(errors)) : marks.concat(errors)
}

function placed(from: number, to: number, scale: TimeScale): { x: number; width: number } {
  const x = Math.max(from, -SPACED_FROM)
  const width = Math.min(to, scale.widthPx + SPACED_FROM) - x
  return { x, width: Math.max(MIN_WIDTH, width > SPACED_FROM ? width - 1 : width) }
}

/** A few short steps in a wide lane are drawn as steps, not as a density. */
function isSparse(marks: readonly Mark[], scale: TimeScale): boolean {
  return marks.length < scale.widthPx / (CELL_WIDTH * 4)
}

function solid(marks: Mark[]): Mark[] {
  for (const mark of marks) mark.busy = 1
  return marks
}

/** The errors at one place of the ruler, in start order. */
export type ErrorMark = { x: number; positions: number[] }

/** Closer marks could not be clicked one by one. */
const ERROR_SPACING = 14

/** Every error in view, alone or together with those that are too close to it. */
export function findErrorMarks(
  { startsMs, errors }: Pick<Timeline, 'startsMs' | 'errors'>,
  scale: TimeScale,
): ErrorMark[] {
  const marks: ErrorMark[] = []
  for (const position of errors) {
    const x = scale.toX(startsMs[position]!)
    if (x < -SPACED_FROM || x > scale.widthPx + SPACED_FROM) continue
    const last = marks.at(-1)
    if (last !== undefined && x - last.x < ERROR_SPACING) last.positions.push(position)
    else marks.push({ x, positions: [position] })
  }
  return marks
}

/** The line of the cost so far: corners as [x, share of the total], at most two per pixel. */
export function findCostLine(totals: RunningTotals, scale: TimeScale): [x: number, share: number][] {
  const whole = totals.cost.at(-1) ?? 0
  if (whole <= 0) return []
  const corners: [number, number][] = []
  let before = 0
  let share = 0
  let lastX = -Infinity
  for (let index = 0; index < totals.atMs.length; index += 1) {
    const x = scale.toX(totals.atMs[index]!)
    if (x > scale.widthPx) break
    const next = totals.cost[index]! / whole
    if (x < 0) before = next
    else if (x - lastX >= 1) {
      corners.push([x, share], [x, next])
      lastX = x
    } else corners.at(-1)![1] = next
    share = next
  }
  return [[0, before], ...corners, [scale.widthPx, share]]
}
