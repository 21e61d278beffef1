import * as playhead from 'playhead'
import { announceTestRun, type TestRun, LEDGER_ENDING } from './announce-test-run.ts'
import { readCodeOrigin, type CodeOrigin } from './build-context.ts'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerEntry } from '@playhead/model'

let current: TestRun | undefined

/** The run that this process is part of; the first call begins to record. */
export function joinTestRun(): TestRun {
  current ??= startRecording()
  return current
}

function startRecording(): TestRun {
  const { env: environment } = process
  const run = announceTestRun(environment)
  const origin = readCodeOrigin(environment, process.cwd())
  // In the environment, so that an agent that calls `init()` itself records to the same place.
  environment.PLAYHEAD_DIR = run.folder
  environment.OTEL_RESOURCE_ATTRIBUTES = withOrigin(environment.OTEL_RESOURCE_ATTRIBUTES, origin)
  playhead.init({ silent: environment.PLAYHEAD_ENDPOINT === undefined })
  return run
}

function withOrigin(given: string | undefined, { branch, commit, provider }: CodeOrigin): string {
  const known = [
    ['vcs.ref.head.name', branch],
    ['vcs.ref.head.revision', commit],
    ['cicd.provider', provider],
  ]
  const added = known
    .filter(([name, value]) => value !== undefined && !given?.includes(`${name}=`))
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
  return [...(given ? [given] : []), ...added].join(',')
}

/** Notes a result for the report; where nothing can be written there is none. */
export function noteResult(entry: LedgerEntry): void {
  try {
    const { folder } = joinTestRun()
    appendFileSync(join(folder, `${process.pid}${LEDGER_ENDING}`), `${JSON.stringify(entry)}\n`)
  } catch {
    // The tests matter more than their report.
  }
}
