import type { TimeRange, TimeAxis } from './time-axis.ts'

export const speeds = [0.5, 1, 2, 5, 10] as const
export type Speed = (typeof speeds)[number]

export type Motion = {
  axis: TimeAxis
  /** Session milliseconds per real millisecond; negative plays backwards. */
  rate: number
  /** The range that playback repeats. */
  loop: TimeRange | null
}

/** The playhead after some real time. `hasArrived`: it reached the end of the session, or the start going backwards. */
export function advancePlayhead(
  positionMs: number,
  elapsedMs: number,
  { axis, rate, loop }: Motion,
): { positionMs: number; hasArrived: boolean } {
  const place = axis.toAxis(positionMs) + elapsedMs * rate
  if (loop !== null) return { positionMs: axis.toTime(wrap(place, axis, loop)), hasArrived: false }
  if (place >= axis.lengthMs) return { positionMs: axis.toTime(axis.lengthMs), hasArrived: rate > 0 }
  if (place <= 0) return { positionMs: 0, hasArrived: rate < 0 }
  return { positionMs: axis.toTime(place), hasArrived: false }
}

function wrap(place: number, axis: TimeAxis, loop: TimeRange): number {
  const start = axis.toAxis(loop.startMs)
  const length = axis.toAxis(loop.endMs) - start
  if (length <= 0) return start
  const inside = (place - start) % length
  return start + (inside < 0 ? inside + length : inside)
}

export function nextSpeed(speed: Speed): Speed {
  return speeds[Math.min(speeds.indexOf(speed) + 1, speeds.length - 1)]!
}
