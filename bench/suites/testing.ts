import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { launchBrowser } from '../../e2e/browser.ts'
import { writeReport } from '../../packages/playhead/src/report/write-report.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TESTS = 500
const FILES = 5
const OPENINGS = 5

/** Measures the cost of the testing kit: a suite of agent tests with the reporter, and its report. */
export async function runTestingSuite(_options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  await mkdir(join(root, 'artifacts'), { recursive: true })
  // Inside the repository, so that the tests find vitest and playhead.
  const folder = await mkdtemp(join(root, 'artifacts/bench-testing-'))
  try {
    progress.show(`${TESTS} agent tests`, 0)
    await writeSuite(folder)
    const suiteMs = await runSuite(folder)
    const run = join(folder, '.playhead/bench')
    progress.show('writing the report', 0.6)
    const times: number[] = []
    let written = await writeReport({ from: [run], folder: join(folder, 'report') })
    for (let round = 0; round < 3; round += 1) {
      const startedAtMs = performance.now()
      written = await writeReport({ from: [run], folder: join(folder, 'report') })
      times.push(performance.now() - startedAtMs)
    }
    if (written.sessionCount !== TESTS) throw new Error(`the report has ${written.sessionCount} sessions`)
    const reportMs = percentile(times, 0.5)
    progress.show('opening the report', 0.8)
    const openedMs = await openReport(written.page)
    const { size } = await stat(written.page)
    return {
      suite: 'testing',
      machine,
      figures: [
        { what: `${TESTS} agent tests with the reporter`, figure: suiteMs / 1000, unit: 's' },
        {
          what: '  of that, writing the report',
          figure: (reportMs / (suiteMs - reportMs)) * 100,
          unit: '%',
          target: targets.reporterShare,
          note: `${Math.round(reportMs)} ms; each test itself takes 20 ms`,
        },
        { what: `report of ${TESTS} sessions`, figure: size / 1e6, unit: 'MB', target: targets.reportSize },
        {
          what: 'opening the report, until its tests are on the screen',
          figure: openedMs,
          unit: 'ms',
          target: targets.reportOpened,
        },
      ],
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeSuite(folder: string): Promise<void> {
  const test = `
import * as playhead from 'playhead'
import { expect, test } from 'playhead/vitest'

const text = 'The customer was charged twice and would like to know why. '.repeat(30)
const fetchCustomer = playhead.recordAction('fetch_customer_data', async (id) => {
  await new Promise((resolve) => setTimeout(resolve, 20))
  return { id, plan: 'pro', notes: text }
})
const answer = (turn) =>
  playhead.record(new playhead.LLMEvent({
    model: 'gpt-4o',
    prompt: [{ role: 'system', content: text }, { role: 'user', content: 'question ' + turn }],
    completion: [{ role: 'assistant', content: text }],
    usage: { input: 800, output: 200 },
  }))

for (let index = 0; index < ${TESTS / FILES}; index += 1)
  test('agent test ' + index, async ({ session }) => {
    await fetchCustomer('c_' + index)
    for (let turn = 0; turn < 6; turn += 1) answer(turn)
    expect(session).toHaveCalled('fetch_customer_data', { times: 1 })
    if (index % 50 === 0) expect(session).toHaveCalledInOrder(['fetch_customer_data', 'issue_refund'])
  })
`
  for (let file = 0; file < FILES; file += 1) await writeFile(join(folder, `agent-${file}.test.ts`), test)
  await writeFile(
    join(folder, 'vitest.config.ts'),
    `import PlayheadReporter from 'playhead/reporter'
export default {
  resolve: { conditions: ['playhead-source'] },
  ssr: { resolve: { conditions: ['playhead-source'] } },
  test: { reporters: ['dot', new PlayheadReporter()], maxWorkers: 2 },
}
`,
  )
}

/** Returns the milliseconds that the suite takes. Some of the tests fail on purpose. */
async function runSuite(folder: string): Promise<number> {
  const args = [
    '--conditions=playhead-source',
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    folder,
  ]
  const env = { ...process.env, PLAYHEAD_RUN_ID: 'bench', PLAYHEAD_DIR: join(folder, '.playhead') }
  const startedAtMs = performance.now()
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [...args, '--configLoader', 'native'],
      { cwd: folder, env, maxBuffer: 1e8 },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    )
  })
  if (!output.includes(`${TESTS} tests:`)) throw new Error(output.slice(-2_000))
  return performance.now() - startedAtMs
}

/** The median time from navigation to the rows. */
async function openReport(page: string): Promise<number> {
  const browser = await launchBrowser()
  const times: number[] = []
  for (let round = 0; round < OPENINGS; round += 1) {
    const context = await browser.newContext({ offline: true })
    const tab = await context.newPage()
    const startedAtMs = performance.now()
    await tab.goto(pathToFileURL(page).href)
    await tab.locator('.report-test').first().waitFor()
    times.push(performance.now() - startedAtMs)
    await context.close()
  }
  await browser.close()
  return percentile(times, 0.5)
}
