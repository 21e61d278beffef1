import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestResult } from '@playhead/model'
import * as playhead from 'playhead'
import { announceTestRun, RESULTS_SUFFIX, type TestRun } from './announce-test-run.ts'
import { readBuildContext, type BuildContext } from './build-context.ts'

let current: TestRun | undefined

/** The run that this process is part of; the first call begins to record. */
export function joinTestRun(): TestRun {
  current ??= startRecording()
  return current
}

function startRecording(): TestRun {
  const { env: environment } = process
  const run = announceTestRun(environment)
  const origin = readBuildContext(environment, process.cwd())
  // In the environment, so that an agent that calls `init()` itself records to the same place.
  environment.PLAYHEAD_DIR = run.folder
  environment.OTEL_RESOURCE_ATTRIBUTES = withOrigin(environment.OTEL_RESOURCE_ATTRIBUTES, origin)
  playhead.init({ silent: environment.PLAYHEAD_ENDPOINT === undefined })
  return run
}

function withOrigin(given: string | undefined, { branch, commit, provider }: BuildContext): string {
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
export function noteResult(entry: TestResult): void {
  try {
    const { folder } = joinTestRun()
    appendFileSync(join(folder, `${process.pid}${RESULTS_SUFFIX}`), `${JSON.stringify(entry)}\n`)
  } catch {
    // The tests matter more than their report.
  }
}
