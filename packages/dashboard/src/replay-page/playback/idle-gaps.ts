import type { StepKind } from '@playhead/model'
import type { Timeline } from './timeline.ts'

/** A part of a session, in milliseconds since its start. */
export type TimeRange = { startMs: number; endMs: number }

/** Shorter pauses belong to the rhythm of a session. */
const SHORTEST_GAP_MS = 1000

const containers: ReadonlySet<StepKind> = new Set(['agent', 'workflow'])

/** Where nothing happened: no step but those that hold others. */
export function findIdleGaps(timeline: Timeline): TimeRange[] {
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
    // Of a step that never ended nobody knows how long it worked.
    busyUntilMs = Math.max(busyUntilMs, endMs !== Infinity ? endMs : isRunning ? durationMs : startMs)
  }
  addGap(durationMs)
  return gaps
}

export function totalLength(ranges: readonly TimeRange[]): number {
  return ranges.reduce((total, range) => total + range.endMs - range.startMs, 0)
}

/** A session that mostly waited is easier to read without the waiting. */
export function isMostlyIdle(durationMs: number, gaps: readonly TimeRange[]): boolean {
  return durationMs > 30_000 && totalLength(gaps) > durationMs / 2
}
