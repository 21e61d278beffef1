import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRecording, toRecording, type LedgerEntry, type Recording } from '@playhead/model'
import { LEDGER_ENDING } from '../testing/runs/announce-test-run.ts'

/** What runs of tests left on disk. */
export type Results = {
  recordings: Recording[]
  entries: LedgerEntry[]
  /** Files that could not be read, with why. */
  problems: string[]
}

const READ_AT_ONCE = 16

/** Reads recordings and results from files and folders, whatever is inside them; several are one: shards, or runs. */
export async function readResults(paths: readonly string[]): Promise<Results> {
  const results: Results = { recordings: [], entries: [], problems: [] }
  for (const path of paths) await readPlace(path, results, true)
  const byId = new Map<string, Recording>()
  for (const recording of results.recordings) {
    const known = byId.get(recording.session.id)
    // Two processes may have written parts of one session: the fuller one counts.
    if (known === undefined || known.steps.length < recording.steps.length)
      byId.set(recording.session.id, recording)
  }
  return { ...results, recordings: [...byId.values()] }
}

async function readPlace(path: string, results: Results, isNamed: boolean): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) {
    results.problems.push(`${path} is not there.`)
    return
  }
  if (found.isDirectory()) {
    const names = (await readdir(path)).toSorted()
    for (let at = 0; at < names.length; at += READ_AT_ONCE)
      await Promise.all(
        names.slice(at, at + READ_AT_ONCE).map((name) => readPlace(join(path, name), results, false)),
      )
    return
  }
  if (path.endsWith(LEDGER_ENDING)) return readLedger(path, results)
  // In a folder, other files are nobody's mistake.
  if (isNamed || /\.jsonl?$/.test(path)) await readRecordings(path, results)
}

async function readLedger(path: string, results: Results): Promise<void> {
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    // The last line of a process that was killed may be cut.
    const entry = parse(line) as LedgerEntry | undefined
    if (entry?.kind === 'attempt' || entry?.kind === 'agent-test') results.entries.push(entry)
  }
}

/** One recording as JSON, or one on each line. */
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
