import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '@playhead/model'
import { joinTestRun } from './test-run.ts'

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
