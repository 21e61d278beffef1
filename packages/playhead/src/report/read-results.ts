import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRecording, toRecording, type Recording, type TestResult } from '@playhead/model'
import { RESULTS_SUFFIX } from '../testing/runs/announce-test-run.ts'

/** What test runs wrote to disk. */
export type Results = {
  recordings: Recording[]
  entries: TestResult[]
  /** One message for each file that could not be read. */
  problems: string[]
}

const READ_AT_ONCE = 16

/** Reads recordings and results from files and folders, recursively, and merges them: the shards of a run, or several runs. */
export async function readResults(paths: readonly string[]): Promise<Results> {
  const results: Results = { recordings: [], entries: [], problems: [] }
  for (const path of paths) await readPath(path, results, true)
  const byId = new Map<string, Recording>()
  for (const recording of results.recordings) {
    const known = byId.get(recording.session.id)
    // Two processes may each have written part of a session: keep the larger part.
    if (known === undefined || known.steps.length < recording.steps.length)
      byId.set(recording.session.id, recording)
  }
  return { ...results, recordings: [...byId.values()] }
}

async function readPath(path: string, results: Results, isNamed: boolean): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) {
    results.problems.push(`No such file or folder: ${path}`)
    return
  }
  if (found.isDirectory()) {
    const names = (await readdir(path)).toSorted()
    for (let at = 0; at < names.length; at += READ_AT_ONCE)
      await Promise.all(
        names.slice(at, at + READ_AT_ONCE).map((name) => readPath(join(path, name), results, false)),
      )
    return
  }
  if (path.endsWith(RESULTS_SUFFIX)) return readTestResults(path, results)
  // Other files in a folder are ignored; a file that was named must be a recording.
  if (isNamed || /\.jsonl?$/.test(path)) await readRecordings(path, results)
}

async function readTestResults(path: string, results: Results): Promise<void> {
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    // A killed process may leave its last line truncated.
    const entry = parse(line) as TestResult | undefined
    if (entry?.kind === 'attempt' || entry?.kind === 'agent-test') results.entries.push(entry)
  }
}

/** A file holds one recording as JSON, or one per line. */
async function readRecordings(path: string, { recordings, problems }: Results): Promise<void> {
  const text = await readFile(path, 'utf8')
  const whole = parse(text)
  const values =
    whole === undefined
      ? text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(parse)
      : [whole]
  for (const value of values) {
    const parsed = parseRecording(value)
    if ('problem' in parsed) problems.push(`${path}: ${parsed.problem}`)
    else {
      const { exportedAt } = value as { exportedAt?: unknown }
      recordings.push(toRecording(parsed.session, typeof exportedAt === 'string' ? exportedAt : ''))
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
