import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { readBuildContext } from './build-context.ts'

/** One start of the test runner. All of its processes record into one folder. */
export type TestRun = { id: string; folder: string }

const DEFAULT_FOLDER = '.playhead'
/** Older runs are deleted. */
const KEPT_RUNS = 10

/** Sets the environment variables that tell child processes which run they belong to. */
export function announceTestRun(environment: NodeJS.ProcessEnv = process.env): TestRun {
  const run = locateRun(environment)
  environment.PLAYHEAD_RUN_ID = run.id
  environment.PLAYHEAD_RUN_DIR = run.folder
  createFolder(run.folder)
  return run
}

function locateRun(environment: NodeJS.ProcessEnv): TestRun {
  const base = resolve(environment.PLAYHEAD_DIR || DEFAULT_FOLDER)
  const id =
    environment.PLAYHEAD_RUN_ID || readBuildContext(environment, process.cwd()).runId || ownRunId(environment)
  return { id, folder: environment.PLAYHEAD_RUN_DIR || join(base, safeName(id)) }
}

/** Worker processes share their parent's id; threads and single processes use their own. */
function ownRunId(environment: NodeJS.ProcessEnv): string {
  const isChild = process.connected || environment.NODE_TEST_CONTEXT?.startsWith('child') === true
  const owner = isMainThread && isChild ? process.ppid : process.pid
  return `${new Date().toISOString().slice(0, 10)}-${owner}`
}

function safeName(id: string): string {
  return id.replaceAll(/[^\w.-]+/g, '-')
}

function createFolder(folder: string): void {
  try {
    const base = resolve(folder, '..')
    mkdirSync(folder, { recursive: true })
    if (base.endsWith(DEFAULT_FOLDER)) {
      writeFileSync(join(base, '.gitignore'), '*\n')
      removeOldRuns(base)
    }
  } catch {
    // Without write access there is no report, but the tests still run.
  }
}

function removeOldRuns(base: string): void {
  const runs = readdirSync(base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ path: join(base, name), at: statSync(join(base, name)).mtimeMs }))
    .toSorted((left, right) => right.at - left.at)
  for (const { path } of runs.slice(KEPT_RUNS)) rmSync(path, { recursive: true, force: true })
}

/** File name suffix of the results of a run; each process writes its own file. */
export const RESULTS_SUFFIX = '.results.jsonl'
