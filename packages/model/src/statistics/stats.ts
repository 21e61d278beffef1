import type { Usage } from '../session/usage.ts'
import type { EndState } from '../session/end-state.ts'
import type { Interval } from './statistics.ts'

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
  /** The score that was asked for; absent if none was. */
  score?: StatsScore
}
/** The values of one score: how many sessions have it, the mean of its numbers (yes is 1), and its words. */
export type StatsScore = { count: number; mean: number | null; words: Record<string, number> }
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

/** One session of a test. */
export type TestRun = {
  sessionId: string
  endState: EndState
  startedAt: string
  durationMs: number | null
  cost: number | null
  attempt?: number
  variant?: string
  runId?: string
  branch?: string
  commit?: string
}

/** The results of a test over the sessions that match a filter. */
export type TestHistory = {
  file?: string
  suite?: string
  name: string
  total: number
  passed: number
  failed: number
  /** passed / (passed + failed); null when no session ended. */
  passRate: number | null
  /** The 95% confidence interval of the pass rate. */
  passInterval: Interval
  isFlaky: boolean
  /** The number of inputs it was run with; 0 when it has none. */
  variants: number
  cost: number | null
  durationMs: { p50: number | null; p95: number | null }
  lastRunAt: string
  /** Newest first. */
  runs: TestRun[]
}
