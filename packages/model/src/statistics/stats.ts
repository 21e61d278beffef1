import type { Usage } from '../session/usage.ts'

/** The bucket sizes of a timeline, shortest first. */
export type StatsInterval =
  | 'minute'
  | '5-minutes'
  | '15-minutes'
  | 'hour'
  | '6-hours'
  | 'day'
  | 'week'
  | 'month'

type Percentiles = { p50: number | null; p95: number | null; p99: number | null }
/** Aggregates over sessions. */
export type StatsFigures = {
  total: number
  success: number
  fail: number
  indeterminate: number
  running: number
  lost: number
  failureRate: number | null
  cost: number | null
  usage: Usage
  durationMs: Percentiles
}
export type StatsBucket = StatsFigures & { at: string }
/** For models and tools, `calls`, `cost`, `usage` and `durationMs` are about the calls, not their sessions. */
export type StatsGroup = StatsFigures & {
  key: string
  calls?: number
  failedCalls?: number
  example?: { sessionId: string; message: string; action?: string }
}
export type Stats = StatsFigures & {
  /** Models without a known price; their calls are not in `cost`. */
  unpricedModels: string[]
  /** The size of each bucket. */
  interval?: StatsInterval
  buckets: StatsBucket[]
  groups: StatsGroup[]
}
