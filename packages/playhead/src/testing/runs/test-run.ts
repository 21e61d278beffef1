import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestResult } from '@playhead/model'
import * as playhead from 'playhead'
import { requireNode } from '../../runtime/node-version.ts'
import { announceTestRun, RESULTS_SUFFIX, type TestRun } from './announce-test-run.ts'
import { readBuildContext, type BuildContext } from './build-context.ts'

let current: TestRun | undefined

/** Returns the test run this process belongs to. The first call starts recording. */
export function joinTestRun(): TestRun {
  current ??= startRecording()
  return current
}

function startRecording(): TestRun {
  requireNode()
  const { env: environment } = process
  const run = announceTestRun(environment)
  const context = readBuildContext(environment, process.cwd())
  // Set in the environment, so that an agent that calls `init()` itself records to the same folder.
  environment.PLAYHEAD_DIR = run.folder
  environment.OTEL_RESOURCE_ATTRIBUTES = addBuildContext(environment.OTEL_RESOURCE_ATTRIBUTES, context)
  playhead.init({ silent: environment.PLAYHEAD_ENDPOINT === undefined })
  return run
}

function addBuildContext(given: string | undefined, { branch, commit, provider }: BuildContext): string {
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

/** Appends a result for the report; does nothing without write access. */
export function saveResult(result: TestResult): void {
  try {
    const { folder } = joinTestRun()
    appendFileSync(join(folder, `${process.pid}${RESULTS_SUFFIX}`), `${JSON.stringify(result)}\n`)
  } catch {
    // A missing report must not fail the tests.
  }
}
