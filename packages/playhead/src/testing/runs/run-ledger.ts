import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '@playhead/model'
import { LEDGER_ENDING } from './ledger-ending.ts'
import { joinTestRun } from './test-run.ts'

/** Notes a result for the report; where nothing can be written there is none. */
export function noteResult(entry: LedgerEntry): void {
  try {
    const { folder } = joinTestRun()
    appendFileSync(join(folder, `${process.pid}${LEDGER_ENDING}`), `${JSON.stringify(entry)}\n`)
  } catch {
    // The tests matter more than their report.
  }
}
