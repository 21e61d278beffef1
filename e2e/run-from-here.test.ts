import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { startStage, type Stage } from './browser.ts'
import { agentFolder, runInAgentFolder, startDevTerminal, type DevTerminal } from './dev-terminal.ts'
import { expectGoodLooks } from './expect-good-looks.ts'

let stage: Stage
let terminal: DevTerminal
let failing: SessionSummary
beforeAll(async () => {
  stage = await startStage()
  terminal = await startDevTerminal(stage.server.url)
  await stage.server.request('/api/demo', { method: 'POST' })
  const failed = await stage.server.sessions('limit=100&status=fail')
  failing = failed.find(({ endStateReason }) => /customer_id/.test(endStateReason ?? ''))!
})
afterAll(async () => {
  await terminal.stop()
  await stage.stop()
})

const dialog = (page: Page) => page.getByRole('dialog')

/** Opens the failing session of the demo and the dialog at the step that returned null. */
async function openAtTheCause(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Run from here/ }).click()
  await dialog(page).getByRole('button', { name: 'Edit it there' }).click()
  await dialog(page).getByRole('heading', { name: 'Run from step 5: extract_customer_id' }).waitFor()
}

test('without a terminal the dialog has the command, which a shell passes on as it was typed', async () => {
  const { page, problems, close } = await stage.open(`/sessions/${failing.id}`)
  await openAtTheCause(page)
  const value = { text: 'it\'s $HOME; `ls` "x"\\', list: ['*', '~', '!'] }
  await dialog(page).getByRole('textbox', { name: 'Result' }).fill(JSON.stringify(value))
  const command = await dialog(page).getByLabel('command', { exact: true }).innerText()
  expect(shellArguments(command)).toEqual([
    'fork',
    `s_${failing.id.slice(0, 8)}`,
    '--at',
    '5',
    '--result',
    JSON.stringify(value),
    '--endpoint',
    stage.server.url,
  ])
  await dialog(page).getByRole('textbox', { name: 'Result' }).fill('"c_42"')
  await expectGoodLooks(page, 'run-from-here-command')
  expect(problems).toEqual([])
  await close()
})

test('the edited step runs in the paired terminal and opens beside its parent, live', async () => {
  const { page, problems, close } = await stage.open(await terminal.link(), { reducedMotion: 'reduce' })
  await page.getByRole('button', { name: 'Pair' }).click()
  await page.getByText(/^Paired with/).waitFor()
  await page.goto(`${stage.server.url}/sessions/${failing.id}`)
  await openAtTheCause(page)
  await dialog(page).getByRole('textbox', { name: 'Result' }).fill('"c_42"')
  await dialog(page).getByRole('button', { name: 'Run once' }).click()

  await page.waitForURL(/\/compare\?/)
  const b = page.getByRole('region', { name: 'Session B' })
  await b.getByText('Running', { exact: true }).waitFor()
  await b.getByText('Success').waitFor()
  expect(await b.innerText()).toContain(`fork of s_${failing.id.slice(0, 8)}, with result "c_42"`)
  expect(await page.locator('.divergence-first').innerText()).toMatch(/extract_customer_id, returned "c_42"/)
  await expectGoodLooks(page, 'run-from-here-compare')

  const forkId = new URL(page.url()).searchParams.get('b')!
  await page.goto(`${stage.server.url}/sessions/${forkId}`)
  await page.getByRole('note', { name: 'Re-run' }).getByText('at extract_customer_id').waitFor()
  await page.getByText('tape ends').waitFor()
  await expectGoodLooks(page, 'run-from-here-fork')

  await page.goto(`${stage.server.url}/sessions/${failing.id}`)
  const reruns = page.getByRole('note', { name: 'Re-runs of this session' })
  await reruns.getByText('With result "c_42" 1 of 1 pass').waitFor()

  await page.goto(`${stage.server.url}/sessions`)
  await page.locator('.session-rows .session-row').first().waitFor()
  expect(await page.locator('.session-rerun').count()).toBe(0)
  await page.getByRole('button', { name: 'Re-runs' }).click()
  await expect.poll(() => page.locator('.session-rerun').allInnerTexts()).toEqual(['fork'])
  // The browser logs the 404 of a session that has not begun.
  expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
  await close()
})

test('the session as a test is the same two files as to-test writes', async () => {
  const { page, problems, close } = await stage.open(`/sessions/${failing.id}`, { reducedMotion: 'reduce' })
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: /Download as a test/ }).click()
  const [testText, cassetteText] = [await download(page, 'Test'), await download(page, 'Cassette')]
  await expectGoodLooks(page, 'test-download')
  expect(problems).toEqual([])
  await close()

  const folder = await mkdtemp(join(tmpdir(), 'playhead-to-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const out = join(folder, 'from-cli.test.ts')
  const options = ['--runner', 'vitest', '--out', out, '--json', '--endpoint', stage.server.url]
  const printed = await runInAgentFolder(['to-test', failing.id, ...options])
  const { cassette } = JSON.parse(printed) as { cassette: string }
  expect(await readFile(join(agentFolder, cassette), 'utf8')).toBe(cassetteText)
  // The command formats what it wrote as the project does.
  const withoutSpace = (text: string) => text.replaceAll(/[\s,]+/g, '')
  expect(withoutSpace(await readFile(out, 'utf8'))).toBe(withoutSpace(testText))
})

async function download(page: Page, name: string): Promise<string> {
  const started = page.waitForEvent('download')
  await dialog(page).getByRole('button', { name, exact: true }).click()
  return readFile(await (await started).path(), 'utf8')
}

/** What a program gets from a command line: the arguments as a POSIX shell splits them. */
function shellArguments(command: string): string[] {
  const text = execFileSync('sh', ['-c', command.replace('npx playhead', String.raw`printf '%s\0'`)])
  return text.toString().split('\0').slice(0, -1)
}
