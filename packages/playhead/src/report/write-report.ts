import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip, type InputType, type ZlibOptions } from 'node:zlib'
import {
  buildTestReport,
  fillOneFile,
  type Recording,
  type ReportTest,
  type TestReport,
} from '@playhead/model'
import { readResults } from './read-results.ts'
import { renderAnnotations, renderSummary } from './render-github.ts'
import { renderReportJunit } from './render-junit.ts'

export type ReportOptions = {
  /** Folders and files to read: test runs in `.playhead/`, shards, recordings. */
  from: readonly string[]
  /** Where `index.html` and `junit.xml` go. */
  folder: string
  /** Which sessions include their replay: `all`, or only `failures` (every test that did not simply pass). */
  keep?: 'all' | 'failures' | undefined
  environment?: Readonly<Record<string, string | undefined>> | undefined
}

export type WrittenReport = {
  report: TestReport
  /** Path of the HTML file. */
  page: string
  bytes: number
  sessionCount: number
  problems: string[]
  /** Annotations for GitHub Actions; empty elsewhere. */
  annotations: string[]
}

/** Writes the report of test runs: one HTML file, `junit.xml`, and the step summary of GitHub Actions. */
export async function writeReport(options: ReportOptions): Promise<WrittenReport> {
  const { from, folder, keep = 'all', environment = process.env } = options
  const { recordings, entries, problems } = await readResults(from)
  const madeAt = new Date().toISOString()
  const sessions = recordings.map(({ session }) => session)
  const all = buildTestReport(sessions, entries, { madeAt })
  const kept =
    keep === 'all' ? recordings : recordings.filter(({ session }) => isWorthKeeping(all.tests, session.id))
  const report =
    keep === 'all' ? all : buildTestReport(sessions, entries, { madeAt, kept: new Set(kept.map(idOf)) })
  const html = await fillOneFile(await readOneFileTemplate(), kept, { report, pack })
  await createFolder(folder)
  const page = join(folder, 'index.html')
  await writeFile(page, html)
  await writeFile(join(folder, 'junit.xml'), renderReportJunit(report))
  const summary = environment.GITHUB_STEP_SUMMARY
  if (summary) await appendFile(summary, renderSummary(report))
  return {
    report,
    page,
    bytes: Buffer.byteLength(html),
    sessionCount: kept.length,
    problems,
    annotations: environment.GITHUB_ACTIONS === 'true' ? renderAnnotations(report) : [],
  }
}

/** A folder that we create is kept out of git; one that was there may hold other files. */
async function createFolder(folder: string): Promise<void> {
  const created = await mkdir(folder, { recursive: true })
  if (created !== undefined) await writeFile(join(folder, '.gitignore'), '*\n')
}

/** The replay page with the given sessions in it, as one HTML file. */
export async function renderReplay(recordings: readonly Recording[]): Promise<string> {
  return fillOneFile(await readOneFileTemplate(), recordings, { pack })
}

const compress = promisify<InputType, ZlibOptions, Buffer>(gzip)

/** Higher levels compress little more and slow the report down. */
async function pack(text: string): Promise<string> {
  return (await compress(text, { level: 2 })).toString('base64')
}

function idOf({ session }: Recording): string {
  return session.id
}

function isWorthKeeping(tests: readonly ReportTest[], sessionId: string): boolean {
  const test = tests.find(({ sessions }) => sessions.some(({ id }) => id === sessionId))
  return test === undefined || test.verdict !== 'pass'
}

/** The built page: beside this file once installed, in the dashboard's package within this repository. */
const places = ['./one-file.html', '../../../dashboard/dist/one-file.html'].map(
  (path) => new URL(path, import.meta.url),
)

async function readOneFileTemplate(): Promise<string> {
  for (const place of places) {
    const page = await readFile(place, 'utf8').catch(() => undefined)
    if (page !== undefined) return page
  }
  throw new Error('The report page is not built. Build it with: npm run build')
}
