import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findViolations } from './find-violations.ts'
import { PHONE, startStage, takeScreenshot, type Stage } from './browser.ts'

const example = fileURLToPath(new URL('../examples/support-agent', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

let stage: Stage
let folder: string

beforeAll(async () => {
  stage = await startStage()
  folder = await mkdtemp(join(tmpdir(), 'playhead-report-'))
}, 240_000)
afterAll(async () => {
  await stage.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The tests of the example, as a developer runs them. */
function runExample(environment: Record<string, string>): Promise<{ output: string; exitCode: number }> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|PLAYHEAD_|GITHUB_)/.test(name),
  )
  const args = ['--conditions=playhead-source', vitest, 'run', '--configLoader', 'native']
  const env = {
    ...Object.fromEntries(inherited),
    NO_COLOR: '1',
    PLAYHEAD_DIR: join(folder, 'runs'),
    ...environment,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: example, env }, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, exitCode: error === null ? 0 : Number(error.code ?? 1) }),
    )
  })
}

test('a faulty agent fails by name, and the report, opened from disk, lands on the step', async () => {
  const { output, exitCode } = await runExample({ SUPPORT_AGENT_FAULT: 'intent' })
  expect(exitCode).toBe(1)
  expect(output).toContain('Agent failed on 2/6 variants:')
  expect(output).toContain(
    '- "I see two charges from you": Wrong tool sequence: fetch_customer_data is missing',
  )
  expect(output).toContain('- "Charged me double": Wrong tool sequence: fetch_customer_data is missing')
  expect(output).toMatch(/▶ fetch_customer_data +- –   ← first difference/)
  expect(output).toContain('Playhead: 7 tests: 1 failed, 6 passed; 12 sessions')
  const link = /playhead-report\/index\.html(#session=[0-9a-f]{32}&step=[0-9a-f]{16})/.exec(output)!

  const report = join(folder, 'report')
  await cp(join(example, 'playhead-report'), report, { recursive: true })
  const url = pathToFileURL(join(report, 'index.html')).href
  const { page, problems, close } = await stage.open(url, { offline: true })
  await page.getByRole('heading', { name: '1 of 7 tests failed' }).waitFor()
  expect(await page.locator('.report-test').first().innerText()).toContain('billing, in any words')
  expect(await page.locator('.report-runs').first().innerText()).toContain('Charged me double')
  await takeScreenshot(page, 'test-report-desktop-light')
  expect(await findViolations(page)).toEqual([])
  await page.getByRole('button', { name: /Passed 6/ }).click()
  await expect.poll(() => page.locator('.report-test').count()).toBe(6)
  await page.getByRole('button', { name: /Failed 1/ }).click()
  await page.getByRole('link', { name: 'Replay' }).first().click()
  expect(await page.locator('.step-row.is-selected').innerText()).toContain('classify_intent')
  await page.getByRole('link', { name: 'Back to tests' }).click()
  await page.getByRole('heading', { name: '1 of 7 tests failed' }).waitFor()
  await page.goto('about:blank')
  // The address that the runner printed.
  await page.goto(`${url}${link[1]}`)
  expect(await page.locator('.step-row.is-selected').innerText()).toContain('classify_intent')
  expect(problems).toEqual([])
  await close()

  const phone = await stage.open(url, { viewport: PHONE, colorScheme: 'dark', offline: true })
  await phone.page.locator('.report-test').first().waitFor()
  expect(await phone.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await takeScreenshot(phone.page, 'test-report-phone-dark')
  expect(await findViolations(phone.page)).toEqual([])
  await phone.close()
})

test('with a server, the link that is printed opens the replay there', async () => {
  const { output, exitCode } = await runExample({
    SUPPORT_AGENT_FAULT: 'customer_id',
    PLAYHEAD_ENDPOINT: stage.server.url,
  })
  expect(exitCode).toBe(1)
  expect(output).toContain('ValueError: customer_id cannot be null')
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/sessions\/[0-9a-f]{32}\S*/.exec(output)!
  const { page, close } = await stage.open(link)
  await page.locator('.step-row.is-selected').waitFor()
  expect(await page.locator('.step-row.is-selected').innerText()).toContain('fetch_customer_data')
  await close()
  const { tests } = (await (await stage.server.request('/api/tests')).json()) as {
    tests: { name: string; variants: number }[]
  }
  expect(tests.find(({ name }) => name === 'billing, in any words')).toMatchObject({ variants: 6, total: 6 })
})
