import type { EndState } from '../session/end-state.ts'
import type { Interval } from './statistics.ts'

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
