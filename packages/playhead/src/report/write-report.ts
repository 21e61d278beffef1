import { appendFile, mkdir, writeFile, readFile } from 'node:fs/promises'
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
import { renderAnnotations } from './render-github.ts'
import { renderJunit } from './render-junit.ts'
import { renderSummary } from './render-github.ts'

export type ReportOptions = {
  /** Folders and files to read: runs in `.playhead/`, shards, recordings. */
  from: readonly string[]
  /** Where `index.html` and `junit.xml` go. */
  folder: string
  /** Which sessions can be replayed in it: `all`, or those of tests that did not simply pass. */
  keep?: 'all' | 'failures' | undefined
  environment?: Readonly<Record<string, string | undefined>> | undefined
}

export type WrittenReport = {
  report: TestReport
  /** Path of the page. */
  page: string
  bytes: number
  sessionCount: number
  problems: string[]
  /** Lines for GitHub's log; empty elsewhere. */
  annotations: string[]
}

/** Makes one page of what tests left on disk, and what CI wants to know beside it. */
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
  await mkdir(folder, { recursive: true })
  const page = join(folder, 'index.html')
  await writeFile(page, html)
  await writeFile(join(folder, 'junit.xml'), renderJunit(report))
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

const compress = promisify<InputType, ZlibOptions, Buffer>(gzip)

/** Little is gained by packing harder, and the tests are waiting. */
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

/** Where the built page is: beside us when we are installed, in the dashboard's own package when we are not. */
const places = ['./one-file.html', '../../../dashboard/dist/one-file.html'].map(
  (path) => new URL(path, import.meta.url),
)

async function readOneFileTemplate(): Promise<string> {
  for (const place of places) {
    const page = await readFile(place, 'utf8').catch(() => undefined)
    if (page !== undefined) return page
  }
  throw new Error('The page of the report is not built in this checkout. Build it with: npm run build')
}
