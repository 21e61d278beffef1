import type { StatsBucket, StatsInterval } from '@playhead/model'

/** A bucket of the timeline; `figures` is undefined if it has no sessions. */
export type Bucket = { startMs: number; endMs: number; figures: StatsBucket | undefined }

const MINUTE_MS = 60_000
/** More are too narrow to see, and a wrong clock could ask for millions. */
const MOST_BUCKETS = 400

/** Fewer look like blocks; empty buckets before the first session fill up the timeline. */
const LEAST_BUCKETS = 24

/** The whole timeline: adds the empty buckets, which the server leaves out. */
export function fillBuckets(
  buckets: readonly StatsBucket[],
  interval: StatsInterval,
  range: { fromMs: number | undefined; toMs: number },
): Bucket[] {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]))
  const starts = [...byStart.keys()]
  const firstMs = Math.min(range.fromMs ?? Infinity, ...starts)
  const lastMs = Math.max(range.toMs - 1, ...starts)
  if (!Number.isFinite(firstMs)) return []
  const filled: Bucket[] = []
  let startMs = startOf(interval, firstMs)
  while (startMs <= lastMs && filled.length < MOST_BUCKETS) {
    const endMs = nextStart(interval, startMs)
    filled.push({ startMs, endMs, figures: byStart.get(startMs) })
    startMs = endMs
  }
  return range.fromMs === undefined ? leadUpTo(filled, interval) : filled
}

function leadUpTo(filled: Bucket[], interval: StatsInterval): Bucket[] {
  const before: Bucket[] = []
  let endMs = filled[0]!.startMs
  while (filled.length + before.length < LEAST_BUCKETS) {
    const startMs = startOf(interval, endMs - 1)
    before.push({ startMs, endMs, figures: undefined })
    endMs = startMs
  }
  return [...before.toReversed(), ...filled]
}

/** The start of the bucket that contains a time, in the browser's time zone. */
export function startOf(interval: StatsInterval, timeMs: number): number {
  const date = new Date(timeMs)
  if (interval === 'minute') return date.setSeconds(0, 0)
  if (interval === '5-minutes') return date.setMinutes(floorTo(date.getMinutes(), 5), 0, 0)
  if (interval === '15-minutes') return date.setMinutes(floorTo(date.getMinutes(), 15), 0, 0)
  if (interval === 'hour') return date.setMinutes(0, 0, 0)
  if (interval === '6-hours') return date.setHours(floorTo(date.getHours(), 6), 0, 0, 0)
  date.setHours(0, 0, 0, 0)
  if (interval === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  if (interval === 'month') date.setDate(1)
  return date.getTime()
}

function nextStart(interval: StatsInterval, startMs: number): number {
  const date = new Date(startMs)
  if (interval === 'minute') return startMs + MINUTE_MS
  if (interval === '5-minutes') return startMs + 5 * MINUTE_MS
  if (interval === '15-minutes') return startMs + 15 * MINUTE_MS
  if (interval === 'hour') return startMs + 60 * MINUTE_MS
  // Days vary in length when the clocks change.
  if (interval === '6-hours') return date.setHours(date.getHours() + 6)
  if (interval === 'day') return date.setDate(date.getDate() + 1)
  if (interval === 'week') return date.setDate(date.getDate() + 7)
  return date.setMonth(date.getMonth() + 1)
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step
}
