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

/** What a test did, in the sessions that a filter finds. */
export type TestHistory = {
  file?: string
  suite?: string
  name: string
  total: number
  passed: number
  failed: number
  /** passed / (passed + failed); null when nothing ended. */
  passRate: number | null
  /** Where the true pass rate lies with 95 % confidence. */
  passInterval: Interval
  isFlaky: boolean
  /** How many inputs it was tried with; 0 when it has none. */
  variants: number
  cost: number | null
  durationMs: { p50: number | null; p95: number | null }
  lastRunAt: string
  /** Newest first. */
  runs: TestRun[]
}
