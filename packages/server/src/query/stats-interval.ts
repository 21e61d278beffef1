import type { StatsInterval } from '@playhead/model'
import { statsIntervals } from '../api/schemas/statistics.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const intervals = {
  minute: { ms: MINUTE_MS, sql: '1 MINUTE' },
  '5-minutes': { ms: 5 * MINUTE_MS, sql: '5 MINUTE' },
  '15-minutes': { ms: 15 * MINUTE_MS, sql: '15 MINUTE' },
  hour: { ms: HOUR_MS, sql: '1 HOUR' },
  '6-hours': { ms: 6 * HOUR_MS, sql: '6 HOUR' },
  day: { ms: DAY_MS, sql: '1 DAY' },
  week: { ms: 7 * DAY_MS, sql: '1 WEEK' },
  month: { ms: 30 * DAY_MS, sql: '1 MONTH' },
} as const satisfies Record<StatsInterval, { ms: number; sql: string }>

const MAX_BUCKETS = 100

/** The shortest interval that keeps a time span within a readable number of buckets. */
export function intervalFor(spanMs: number): StatsInterval {
  return statsIntervals.find((name) => spanMs / intervals[name].ms <= MAX_BUCKETS) ?? 'month'
}

/** SQL for the start of a session's bucket as ISO time. `{zone:String}` is the time zone that days begin in. */
export function bucketStart(interval: StatsInterval): string {
  // For weeks and months the engine returns dates, but the result must be an instant.
  const start = `toDateTime(toStartOfInterval(toDateTime(started_at, {zone:String}), INTERVAL ${intervals[interval].sql}), {zone:String})`
  return `formatDateTime(${start}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`
}

export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
