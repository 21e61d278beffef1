import type { TimeRange, TimeAxis } from './time-axis.ts'

/** Maps session time to pixels: `view` is the range that fills `widthPx`. */
export type TimeScale = {
  axis: TimeAxis
  view: TimeRange
  widthPx: number
  toX: (timeMs: number) => number
  toTime: (x: number) => number
}

/** A session that lasted an instant still needs a width. */
const SHORTEST_VIEW_MS = 0.05

export function createTimeScale(axis: TimeAxis, view: TimeRange, widthPx: number): TimeScale {
  const startAxis = axis.toAxis(view.startMs)
  const length = Math.max(axis.toAxis(view.endMs) - startAxis, SHORTEST_VIEW_MS)
  const pixels = Math.max(widthPx, 1)
  return {
    axis,
    view,
    widthPx: pixels,
    toX: (timeMs) => ((axis.toAxis(timeMs) - startAxis) / length) * pixels,
    toTime: (x) => axis.toTime(startAxis + (x / pixels) * length),
  }
}

/** Zooms by `factor` (below 1: in), keeping the time under `x` in place. Null for the whole session. */
export function zoomView(scale: TimeScale, factor: number, x: number): TimeRange | null {
  const { axis, view, widthPx } = scale
  const startAxis = axis.toAxis(view.startMs)
  const length = Math.max(axis.toAxis(view.endMs) - startAxis, SHORTEST_VIEW_MS)
  const shortest = Math.max(SHORTEST_VIEW_MS, axis.lengthMs / 1_000_000)
  const zoomed = Math.min(axis.lengthMs, Math.max(shortest, length * factor))
  const share = x / widthPx
  return placeView(axis, startAxis + length * share - zoomed * share, zoomed)
}

/** Moves the view by some pixels. Null for the whole session. */
export function panView(scale: TimeScale, byPx: number): TimeRange | null {
  const { axis, view, widthPx } = scale
  const startAxis = axis.toAxis(view.startMs)
  const length = axis.toAxis(view.endMs) - startAxis
  return placeView(axis, startAxis + (byPx / widthPx) * length, length)
}

function placeView(axis: TimeAxis, startAxis: number, length: number): TimeRange | null {
  if (length >= axis.lengthMs * 0.999) return null
  const start = Math.min(Math.max(0, startAxis), axis.lengthMs - length)
  return { startMs: axis.toTime(start), endMs: axis.toTime(start + length) }
}

export type Tick = { timeMs: number; x: number; label: string }

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const roundSteps = [1, 2, 5, 10, 15, 30]
  .flatMap((count) => [count * SECOND, count * MINUTE])
  .concat([1, 2, 6, 12, 24, 48, 120, 240].map((hours) => hours * HOUR))
  .sort((left, right) => left - right)

/** Round times, far enough apart for a label each. */
export function findTicks(scale: TimeScale, leastGapPx = 84): Tick[] {
  const { axis, view, widthPx } = scale
  const lengthMs = Math.max(axis.toAxis(view.endMs) - axis.toAxis(view.startMs), SHORTEST_VIEW_MS)
  const stepMs = roundStep((lengthMs / widthPx) * leastGapPx)
  const ticks: Tick[] = []
  let lastX = -Infinity
  for (let timeMs = Math.ceil(view.startMs / stepMs) * stepMs; timeMs <= view.endMs;) {
    const x = scale.toX(timeMs)
    if (x - lastX >= leastGapPx * 0.8) {
      ticks.push({ timeMs, x, label: formatTick(timeMs, stepMs) })
      lastX = x
    }
    const gap = axis.gaps.find((range) => timeMs >= range.startMs && timeMs < range.endMs - stepMs)
    timeMs = gap === undefined ? timeMs + stepMs : Math.ceil(gap.endMs / stepMs) * stepMs
  }
  return ticks
}

function roundStep(leastMs: number): number {
  if (leastMs <= SECOND / 2) {
    const power = 10 ** Math.floor(Math.log10(leastMs))
    return [1, 2, 5, 10].map((count) => count * power).find((step) => step >= leastMs * 0.9999)!
  }
  return roundSteps.find((step) => step >= leastMs) ?? Math.ceil(leastMs / (24 * HOUR)) * 24 * HOUR
}

/** "0", "250ms", "1.5s", "2:30", "1:02:00". */
export function formatTick(timeMs: number, stepMs: number): string {
  if (timeMs === 0) return '0'
  if (timeMs < SECOND && stepMs < SECOND) return `${trimNumber(timeMs, stepMs)}ms`
  if (timeMs < MINUTE) return `${trimNumber(timeMs / SECOND, stepMs / SECOND)}s`
  const seconds = timeMs / SECOND
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest =
    stepMs < SECOND ? (seconds % 60).toFixed(decimalsFor(stepMs / SECOND)) : Math.floor(seconds % 60)
  const [clockMinutes, clockSeconds] = [
    String(minutes),
    String(rest).padStart(stepMs < SECOND ? 3 + decimalsFor(stepMs / SECOND) : 2, '0'),
  ]
  return hours === 0
    ? `${clockMinutes}:${clockSeconds}`
    : `${hours}:${clockMinutes.padStart(2, '0')}:${clockSeconds}`
}

function trimNumber(value: number, step: number): string {
  return Number(value.toFixed(decimalsFor(step))).toString()
}

function decimalsFor(step: number): number {
  return step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9))
}
