import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildTestReport, toRecording, type Recording, type TestResult } from '@playhead/model'
import { expect, test } from 'vitest'
import { makeSummary } from '../../../model/test/make-summary.ts'
import { playhead } from '../../src/cli/test/run-playhead.ts'
import { renderAnnotations, renderSummary } from '../../src/report/render-github.ts'
import { renderReportJunit } from '../../src/report/render-junit.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { checkJunit } from './check-junit.ts'

let made = 0

type Sample = { name: string; isPassed: boolean; attempt?: number; variant?: string; message?: string }

function sample({ name, isPassed, attempt = 1, variant, message }: Sample) {
  made += 1
  const id = made.toString(16).padStart(32, '0')
  const session = makeSummary({
    id,
    name,
    endState: isPassed ? 'success' : 'fail',
    startedAt: '2026-11-15T10:00:00.000Z',
    endedAt: '2026-11-15T10:00:01.000Z',
    durationMs: 1_000,
    tags: ['test'],
    cost: 0.01,
    url: `http://localhost:4318/sessions/${id}`,
    vcs: { branch: 'feature', commit: 'abcdef123456' },
    test: { file: 'a.test.ts', name, attempt, ...(variant !== undefined && { variant }) },
  })
  const entry: TestResult = {
    kind: 'attempt',
    test: { file: 'a.test.ts', name },
    attempt,
    sessionId: id,
    isPassed,
    durationMs: 1_100,
    stepId: 'abcdef0123456789',
    url: session.url!,
    ...(variant !== undefined && { variant }),
    ...(message !== undefined && { message }),
  }
  return { recording: toRecording({ session, steps: [] }, ''), entry }
}

const hostile = 'a <b> & "c" ]]> | ``` \u0007\u001B[31m :: % \n- x'
const samples = [
  sample({ name: 'holds', isPassed: true }),
  sample({ name: hostile, isPassed: false, message: `Expected <this> & that:\n${hostile}` }),
  sample({ name: 'again', isPassed: false, attempt: 1, message: 'first try' }),
  sample({ name: 'again', isPassed: true, attempt: 2 }),
  sample({ name: 'varies', isPassed: true, variant: 'one' }),
  sample({ name: 'varies', isPassed: false, variant: 'two', message: 'wrong tool\nmore' }),
]
const judged: TestResult = {
  kind: 'agent-test',
  test: { file: 'a.test.ts', name: 'varies' },
  verdict: 'inconclusive',
  passed: 1,
  total: 2,
  planned: 2,
  interval: { low: 0.1, high: 0.9 },
  confidence: 0.95,
  minimum: 0.9,
  cost: 0.02,
  passAtK: [0.5],
  passHatK: [0.5],
}
const entries = [...samples.map(({ entry }) => entry), judged]
const sessions = samples.map(({ recording }) => recording.session)
const report = buildTestReport(sessions, entries, { madeAt: '2026-11-15T10:00:00.000Z' })

test('sessions are grouped into tests, failures first', () => {
  expect(report.tests.map(({ name, verdict, passed, total }) => [name, verdict, passed, total])).toEqual([
    [hostile, 'fail', 0, 1],
    ['varies', 'inconclusive', 1, 2],
    ['again', 'flaky', 1, 2],
    ['holds', 'pass', 1, 1],
  ])
  expect(report).toMatchObject({ branch: 'feature', commit: 'abcdef123456' })
  expect(report.tests[1]).toMatchObject({ wanted: { minimum: 0.9 }, cost: 0.02, interval: { low: 0.1 } })
})

test('recordings alone give the same report, except for what only the runner knew', () => {
  const alone = buildTestReport(sessions, [], { madeAt: '' })
  expect(alone.tests.map(({ name, verdict }) => [name, verdict])).toEqual([
    [hostile, 'fail'],
    ['varies', 'fail'],
    ['again', 'flaky'],
    ['holds', 'pass'],
  ])
})

test('JUnit is valid whatever names and messages contain', () => {
  expect(checkJunit(renderReportJunit(report))).toEqual({ tests: 4, failures: 1, skipped: 0 })
})

test('an inconclusive test that the runner failed is failed everywhere', () => {
  const note = "The result is inconclusive, which counts as failed here (inconclusive: 'fail')."
  const failed: TestResult = { ...judged, isFailed: true, note }
  const all = buildTestReport(sessions, [...entries.slice(0, -1), failed], { madeAt: '2026-11-15T10:00:00Z' })
  const varies = all.tests.find(({ name }) => name === 'varies')

  // The HTML report shows this verdict and note.
  expect(varies).toMatchObject({ verdict: 'fail', note })
  const junit = renderReportJunit(all)
  expect(checkJunit(junit)).toEqual({ tests: 4, failures: 2, skipped: 0 })
  expect(junit).toContain(`<failure message="${note}" type="fail">`)
  expect(renderAnnotations(all)[1]).toBe(
    `::error file=a.test.ts,title=varies::${note}%0A"two" (1 run): wrong tool`,
  )
  const summary = renderSummary(all)
  expect(summary).toContain('4 tests: 2 failed, 1 flaky, 1 passed; 6 sessions, $0.06')
  expect(summary).toContain('| ❌ fail | varies | 1/2 (50%, 10–90%) | $0.02 · 2.2s |')
  expect(summary).toContain(note)
})

test('an annotation stands at the line of its test', () => {
  const location = { path: 'packages/a/a.test.ts', line: 12 }
  const placed = entries.map((entry): TestResult => ({ ...entry, location }))
  expect(
    renderAnnotations(buildTestReport(sessions, placed, { madeAt: '' })).map(
      (text) => text.split(',title')[0],
    ),
  ).toEqual(['::error file=packages/a/a.test.ts,line=12', '::warning file=packages/a/a.test.ts,line=12'])
})

test('a report on sessions that belong to no test counts them', async () => {
  const folder = await temporaryFolder()
  const session = makeSummary({ id: 'f'.repeat(32), name: 'support', cost: 0.02 })
  await writeFile(join(folder, 'a.jsonl'), JSON.stringify(toRecording({ session, steps: [] }, '')))
  await mkdir(join(folder, 'own'))
  const outcome = await playhead(['report', 'a.jsonl', '-o', 'own'], { folder })
  expect(outcome).toMatchObject({ exitCode: 0, stdout: '1 session, $0.02\n' })
  // The folder was there before, so its files may be meant for git.
  expect((await readdir(join(folder, 'own'))).toSorted()).toEqual(['index.html', 'junit.xml'])
})

test('the summary escapes recorded text', () => {
  const summary = renderSummary(report)
  expect(summary).toContain('4 tests: 1 failed, 1 inconclusive, 1 flaky, 1 passed; 6 sessions, $0.06')
  expect(summary).toContain('| ❔ inconclusive | varies | 1/2 (50%, 10–90%) | $0.02 · 2.2s |')
  expect(summary).toContain('"two" (1 run): wrong tool')
  expect(summary).toMatch(/\[two\]\(http:\/\/localhost:4318\/sessions\/0+6\?step=abcdef0123456789\)/)
  expect(summary.replaceAll(/```[^]*?```/g, '')).not.toMatch(/<b>|<this>/)
  const rows = summary.split('\n').filter((line) => line.startsWith('| '))
  expect(rows.map((row) => row.replaceAll(String.raw`\|`, '').split('|').length)).toEqual([6, 6, 6, 6, 6])
})

test('each annotation is one line', () => {
  expect(renderAnnotations(report)).toEqual([
    expect.stringMatching(
      /^::error file=a\.test\.ts,title=a <b>.*%3A%3A %25 %0A- x::Expected <this>[^\n]*$/s,
    ),
    '::warning file=a.test.ts,title=varies::"two" (1 run): wrong tool',
  ])
})

async function writeShard(folder: string, of: typeof samples, more: TestResult[] = []): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { recording } of of)
    await writeFile(join(folder, `${recording.session.id}.jsonl`), `${JSON.stringify(recording)}\n`)
  const lines = [...of.map(({ entry }) => entry), ...more].map((entry) => JSON.stringify(entry))
  // A killed process leaves half a line.
  await writeFile(join(folder, '1.results.jsonl'), `${lines.join('\n')}\n{"kind":"att`)
}

test('shards are merged into one report', async () => {
  const folder = await temporaryFolder()
  await writeShard(join(folder, 'shard-1/run'), samples.slice(0, 3))
  await writeShard(join(folder, 'shard-2/run'), samples.slice(3), [judged])
  const summary = join(folder, 'summary.md')
  const outcome = await playhead(['report', 'shard-1', 'shard-2', '-o', 'out'], {
    folder,
    environment: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary },
  })
  expect(outcome.stderr).toMatch(/^Wrote out\/index\.html \(\d+\.\d KB\)\.\n$/)
  expect(outcome.stdout.trim().split('\n').at(-1)).toBe(
    '4 tests: 1 failed, 1 inconclusive, 1 flaky, 1 passed; 6 sessions, $0.06',
  )
  expect(outcome.stdout).toContain('::warning file=a.test.ts')
  expect((await readdir(join(folder, 'out'))).toSorted()).toEqual(['.gitignore', 'index.html', 'junit.xml'])
  expect(checkJunit(await readFile(join(folder, 'out/junit.xml'), 'utf8'))).toMatchObject({ tests: 4 })
  expect(await readFile(summary, 'utf8')).toContain('## Agent tests')
  const html = await readFile(join(folder, 'out/index.html'), 'utf8')
  expect(html.match(/data-playhead-session="\d+"/g)).toHaveLength(6)

  await playhead(['report', 'shard-1', 'shard-2', '-o', 'few', '--keep', 'failures'], { folder })
  const few = await readFile(join(folder, 'few/index.html'), 'utf8')
  // All but the session of the test that passed.
  expect(few.match(/data-playhead-session="\d+"/g)).toHaveLength(5)
})

test('missing files and files that are no recordings are reported', async () => {
  const folder = await temporaryFolder()
  expect(await playhead(['report'], { folder })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('No test runs found in .playhead') as string,
  })
  await writeFile(join(folder, 'x.json'), '{"version":1}')
  const wrong = await playhead(['report', 'x.json', 'nowhere'], { folder })
  expect(wrong.exitCode).toBe(1)
  expect(wrong.stderr).toContain('x.json: not a Playhead recording')
  expect(wrong.stderr).toContain('No such file or folder: nowhere')
})

test('of two files with the same session, the larger one counts', async () => {
  const folder = await temporaryFolder()
  const { recording } = sample({ name: 'split', isPassed: true })
  const step = {
    id: 's1',
    parentId: null,
    kind: 'action',
    name: 'x',
    startedAt: '',
    dialect: 'playhead',
    status: 'ok',
    offsetMs: 0,
    durationMs: 1,
    cost: null,
    hasPayload: true,
    endedAt: null,
  } as const
  const fuller: Recording = { ...recording, steps: [step] }
  await writeFile(join(folder, 'a.jsonl'), JSON.stringify(fuller))
  await writeFile(join(folder, 'b.jsonl'), JSON.stringify(recording))
  const { stdout } = await playhead(['report', '.', '-o', 'out'], { folder })
  expect(stdout).toContain('1 test: 1 passed; 1 session')
})
