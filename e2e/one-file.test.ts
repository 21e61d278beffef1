import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillOneFile, type Recording } from '@playhead/model'
import { startStage, takeScreenshot, type Stage } from './browser.ts'
import { hostileSession, longSession } from './sample-extremes.ts'
import { failingSession, multiAgentSession } from './sample-sessions.ts'

let stage: Stage
let folder: string
const failing = failingSession()
const agents = multiAgentSession()
const hostile = hostileSession()
const long = longSession(2_000)

beforeAll(async () => {
  stage = await startStage()
  folder = await mkdtemp(join(tmpdir(), 'playhead-one-file-'))
  for (const session of [failing, agents, hostile, long]) await stage.post(session)
}, 240_000)

afterAll(async () => {
  await stage.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Opens a file from disk in a browser that has no network. */
async function openFile(html: string, hash = '') {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.html`)
  await writeFile(path, html)
  const opened = await stage.open('about:blank', { offline: true })
  const requests: string[] = []
  opened.page.on('request', (request) => requests.push(request.url()))
  const url = `${pathToFileURL(path).href}${hash}`
  await opened.page.goto(url)
  return {
    ...opened,
    requests: () =>
      requests.filter((request) => !request.startsWith('file:') && !request.startsWith('data:')),
    url,
  }
}

async function recordingOf(traceId: string): Promise<Recording> {
  return (await (await stage.server.request(`/api/sessions/${traceId}/recording`)).json()) as Recording
}

async function template(): Promise<string> {
  return readFile(new URL('../packages/dashboard/dist/one-file.html', import.meta.url), 'utf8')
}

test('the server exports a session as one file that replays from disk without a network', async () => {
  const response = await stage.server.request(`/api/sessions/${failing.traceId}/recording.html`)
  expect(response.headers.get('content-disposition')).toMatch(/attachment; filename="s_[0-9a-f]{8}\.html"/)
  const html = await response.text()
  expect(html.length).toBeLessThan(1_000_000)

  const { page, problems, requests, close } = await openFile(html)
  await page.locator('.argument.is-problem').waitFor()
  expect(await page.title()).toBe('I was charged twice for my subscription · Playhead replay')
  expect(await page.locator('.step-row.is-selected').innerText()).toContain('fetch_customer_data')
  expect(await page.locator('.error-box').first().innerText()).toContain('customer_id cannot be null')
  await page.keyboard.press('ArrowRight')
  expect(await page.locator('.transport-clock b').innerText()).toBe('00:01.970')
  await expect.poll(() => page.url()).toContain('#session=')
  await page.keyboard.press('/')
  await page.keyboard.type('classify')
  await expect.poll(() => page.locator('.step-list-note').innerText()).toContain('3 steps found, 3 hidden')
  await takeScreenshot(page, 'one-file-desktop-light')
  expect(requests()).toEqual([])
  expect(problems).toEqual([])
  await close()
})

test('a link into a file opens at its time', async () => {
  const html = await fillOneFile(await template(), [await recordingOf(failing.traceId)])
  const { page, close } = await openFile(html, `#session=${failing.traceId}&t=700`)
  await page.locator('.step-row').first().waitFor()
  expect(await page.locator('.transport-clock b').innerText()).toBe('00:00.700')
  await close()
})

test('a file with several sessions lists them with failures first, and can be searched', async () => {
  const recordings = await Promise.all(
    [agents, failing, hostile, long].map(({ traceId }) => recordingOf(traceId)),
  )
  const { page, problems, requests, close } = await openFile(await fillOneFile(await template(), recordings))
  await page.getByRole('heading', { name: '4 sessions' }).waitFor()
  const links = page.locator('.one-file-index li')
  expect(await links.last().innerText()).toContain('Report on heat pumps')
  await takeScreenshot(page, 'one-file-index-desktop-light')
  await page.getByLabel('Search sessions').fill('charged twice')
  await expect.poll(() => links.count()).toBe(1)
  await links.first().click()
  await page.locator('.argument.is-problem').waitFor()
  await page.getByRole('link', { name: 'Back to sessions' }).click()
  await page.getByRole('heading', { name: '4 sessions' }).waitFor()
  await page.locator('.one-file-index a', { hasText: 'pwned' }).click()
  await page.locator('.step-row').first().waitFor()
  expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
  expect(requests()).toEqual([])
  expect(problems).toEqual([])
  await close()
})

test('a file without sessions says so', async () => {
  const { page, close } = await openFile(await template())
  const notice = page.getByText('This file contains no sessions.')
  await notice.waitFor()
  expect(await notice.count()).toBe(1)
  await close()
})
