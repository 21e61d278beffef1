import type { StepKind } from '@playhead/model'
import type { Timeline } from './timeline.ts'

/** The length of a skipped gap on the axis: just enough to notice it. */
export const GAP_SHOWN_MS = 300

/**
 * The axis that the playhead moves along: the session's own time with each skipped gap shortened to `GAP_SHOWN_MS`, on
 * the timeline and in playback.
 */
export type TimeAxis = {
  lengthMs: number
  gaps: readonly TimeRange[]
  toAxis: (timeMs: number) => number
  toTime: (axisMs: number) => number
}

export function createTimeAxis(durationMs: number, gaps: readonly TimeRange[] = []): TimeAxis {
  if (gaps.length === 0)
    return { lengthMs: durationMs, gaps, toAxis: (timeMs) => timeMs, toTime: (axisMs) => axisMs }
  const { times, places } = breakpointsOf(durationMs, gaps)
  return {
    lengthMs: places.at(-1)!,
    gaps,
    toAxis: (timeMs) => interpolate(times, places, timeMs),
    toTime: (axisMs) => interpolate(places, times, axisMs),
  }
}

/** The times where the rate changes, and their places on the axis. */
function breakpointsOf(
  durationMs: number,
  gaps: readonly TimeRange[],
): { times: number[]; places: number[] } {
  const times = [0]
  const places = [0]
  const add = (timeMs: number, lengthMs: number) => {
    times.push(timeMs)
    places.push(places.at(-1)! + lengthMs)
  }
  for (const { startMs, endMs } of gaps) {
    add(startMs, startMs - times.at(-1)!)
    add(endMs, Math.min(GAP_SHOWN_MS, endMs - startMs))
  }
  add(durationMs, Math.max(0, durationMs - times.at(-1)!))
  return { times, places }
}

function interpolate(from: readonly number[], to: readonly number[], value: number): number {
  let low = 0
  let high = from.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (from[middle]! <= value) low = middle
    else high = middle - 1
  }
  const next = low + 1
  if (next >= from.length) return to[low]! + (value - from[low]!)
  const length = from[next]! - from[low]!
  if (length === 0) return to[next]!
  return to[low]! + ((value - from[low]!) / length) * (to[next]! - to[low]!)
}

/** A range of session time, in milliseconds since the start. */
export type TimeRange = { startMs: number; endMs: number }

/** Shorter pauses are part of a session's normal rhythm. */
const SHORTEST_GAP_MS = 1000

const containers: ReadonlySet<StepKind> = new Set(['agent', 'workflow'])

const knownGaps = new WeakMap<Timeline, readonly TimeRange[]>()

/** The gaps in which no step ran, apart from agents and workflows. The player and the page both ask for them. */
export function findIdleGaps(timeline: Timeline): readonly TimeRange[] {
  let gaps = knownGaps.get(timeline)
  if (gaps === undefined) knownGaps.set(timeline, (gaps = readIdleGaps(timeline)))
  return gaps
}

function readIdleGaps(timeline: Timeline): TimeRange[] {
  const { steps, startsMs, endsMs, treeSizes, durationMs } = timeline
  const isRunning = timeline.session.endState === 'running'
  const gaps: TimeRange[] = []
  let busyUntilMs = 0
  const addGap = (endMs: number) => {
    if (endMs - busyUntilMs >= SHORTEST_GAP_MS) gaps.push({ startMs: busyUntilMs, endMs })
  }
  for (let position = 0; position < steps.length; position += 1) {
    if (treeSizes[position]! > 1 || containers.has(steps[position]!.kind)) continue
    const startMs = startsMs[position]!
    if (startMs > busyUntilMs) addGap(startMs)
    const endMs = endsMs[position]!
    // A step that never ended has no known duration.
    busyUntilMs = Math.max(busyUntilMs, endMs !== Infinity ? endMs : isRunning ? durationMs : startMs)
  }
  addGap(durationMs)
  return gaps
}

export function totalLength(ranges: readonly TimeRange[]): number {
  return ranges.reduce((total, range) => total + range.endMs - range.startMs, 0)
}

/** Sessions that mostly waited skip idle time by default. */
export function isMostlyIdle(durationMs: number, gaps: readonly TimeRange[]): boolean {
  return durationMs > 30_000 && totalLength(gaps) > durationMs / 2
}
