import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../packages/server/test/test-server.ts'
import { startStage, takeScreenshot, type Stage } from './browser.ts'
import { listedSession } from './sample-lists.ts'
import { failingSession } from './sample-sessions.ts'

let folder: string
let stage: Stage
let again: TestServer | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-gone-'))
  stage = await startStage({ PLAYHEAD_DATA: folder })
})
afterAll(async () => {
  await again?.stop()
  await stage.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a page says that the server is gone, and refreshes when it is back', async () => {
  await stage.post({ spans: listedSession({ name: 'Before', startMs: Date.now() - 5_000 }) })
  const { page, close } = await stage.open('/sessions')
  const names = page.locator('.session-rows .session-title a')
  await expect.poll(() => names.allTextContents()).toEqual(['Before'])

  await stage.server.stop()
  await page.getByText('The server does not respond').first().waitFor()
  expect(await names.allTextContents()).toEqual(['Before'])
  await takeScreenshot(page, 'server-gone-desktop-light')
  await page.getByRole('link', { name: 'Tests', exact: true }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()

  const { port } = new URL(stage.server.url)
  again = await startTestServer({ PLAYHEAD_DATA: folder, PLAYHEAD_PORT: port })
  await page.getByText('Tests appear here when they run').waitFor()
  expect(await page.getByText('The server does not respond').count()).toBe(0)
  await page.getByRole('link', { name: 'Sessions', exact: true }).click()
  await expect.poll(() => names.allTextContents()).toEqual(['Before'])
  await stage.post({ spans: listedSession({ name: 'After', startMs: Date.now() }) })
  await expect.poll(() => names.allTextContents()).toEqual(['After', 'Before'])
  await close()
})

test('every page has a title of its own', async () => {
  const failing = failingSession()
  await stage.post(failing)
  const { page, close } = await stage.open('/sessions')
  for (const [path, title] of [
    ['/sessions', 'Sessions · Playhead'],
    ['/sessions?q=status:fail', 'status:fail · Sessions · Playhead'],
    ['/overview', 'Overview · Playhead'],
    ['/tests', 'Tests · Playhead'],
    ['/settings/keys', 'Keys · Settings · Playhead'],
    ['/nowhere', 'Page not found · Playhead'],
    [`/sessions/${failing.traceId}`, 'Fail · I was charged twice for my subscription · Playhead'],
    ['/sessions/0123456789abcdef0123456789abcdef', 'Session not found · Playhead'],
  ] as const) {
    await page.goto(`${stage.server.url}${path}`)
    await expect.poll(() => page.title()).toBe(title)
  }
  await page.getByRole('heading', { name: 'Session not found' }).waitFor()
  await close()
})
