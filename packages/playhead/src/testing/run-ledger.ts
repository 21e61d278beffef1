import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interval } from '@playhead/model'
import { joinTestRun } from './test-run.ts'

export type TestIdentity = { file?: string; suite?: string; name: string }

export type TestVerdict = 'pass' | 'fail' | 'inconclusive'

/** One session of a test, and what came of it. */
export type AttemptEntry = {
  kind: 'attempt'
  test: TestIdentity
  attempt: number
  variant?: string
  sessionId: string
  isPassed: boolean
  /** Why it failed. */
  message?: string
  /** The step that shows why. */
  stepId?: string
  url?: string
  durationMs: number
}

/** What many sessions of one test came to. */
export type AgentTestEntry = {
  kind: 'agent-test'
  test: TestIdentity
  verdict: TestVerdict
  passed: number
  total: number
  /** Runs that were planned; fewer are made when the budget is spent or enough is known. */
  planned: number
  interval: Interval
  confidence: number
  minimum: number
  cost: number | null
  /** Index 0 is for one try: the chance that at least one of k passes, and that all k do. */
  passAtK: number[]
  passHatK: number[]
  note?: string
}

export type LedgerEntry = AttemptEntry | AgentTestEntry

/** Ends the names of the files that a run's results are in; each process has its own. */
export const LEDGER_ENDING = '.results.jsonl'

/** Notes a result for the report; where nothing can be written there is none. */
export function noteResult(entry: LedgerEntry): void {
  try {
    const { folder } = joinTestRun()
    appendFileSync(join(folder, `${process.pid}${LEDGER_ENDING}`), `${JSON.stringify(entry)}\n`)
  } catch {
    // The tests matter more than their report.
  }
}
