import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../packages/server/test/locked-server.ts'
import { tracesPayload } from '../packages/server/test/otlp.ts'
import { startStage, takeScreenshot, type Stage } from './browser.ts'
import { expectGoodLooks } from './expect-good-looks.ts'
import { failingSession } from './sample-sessions.ts'

const { traceId, spans, resource } = failingSession()
const prompt = 'I was charged twice'
let stage: Stage
let cookie: string

beforeAll(async () => {
  stage = await startStage({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: PASSWORD })
  const { server } = stage
  const { secret } = await server.services.registry.createKey({
    project: 'default',
    name: 'agent',
    scopes: ['ingest'],
  })
  const headers = { authorization: `Bearer ${secret}` }
  await server.request('/v1/traces', { json: tracesPayload(spans, resource), headers })
  const login = await server.request('/api/login', { json: { password: PASSWORD } })
  cookie = login.headers.get('set-cookie')!.split(';')[0]!
})
afterAll(() => stage.stop())

/** A window of somebody who is logged in. */
async function openAsMember(path: string) {
  const [name, value] = cookie.split('=') as [string, string]
  const { hostname } = new URL(stage.server.url)
  const cookies = [
    {
      name,
      value,
      domain: hostname,
      path: '/',
      expires: -1,
      httpOnly: true,
      secure: false,
      sameSite: 'Lax' as const,
    },
  ]
  return stage.open(path, { storageState: { cookies, origins: [] }, reducedMotion: 'reduce' })
}

const dialog = (page: Page) => page.getByRole('dialog')
const links = (page: Page) => dialog(page).getByRole('listitem')

async function createLink(page: Page): Promise<string> {
  await dialog(page).getByRole('button', { name: 'Create link' }).click()
  const link = dialog(page).getByLabel('link', { exact: true })
  await expect.poll(() => link.textContent()).toMatch(/^http.*\/shared\/.*#phs_\w{40}$/)
  return (await link.textContent())!
}

/** What a page asked the server for. */
function watchRequests(page: Page): { path: string; referrer: string | undefined }[] {
  const requests: { path: string; referrer: string | undefined }[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    requests.push({ path: pathname + search, referrer: request.headers().referer })
  })
  return requests
}

test('somebody shares a session by keyboard, and somebody without a login replays it until it is revoked', async () => {
  const member = await openAsMember(`/sessions/${traceId}`)
  const { page } = member
  await page.getByRole('button', { name: 'Share', exact: true }).focus()
  await page.keyboard.press('Enter')
  await dialog(page).getByRole('heading', { name: 'Share this session' }).waitFor()
  await dialog(page).getByLabel('Expires').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const link = dialog(page).getByLabel('link', { exact: true })
  await link.waitFor()
  const url = (await link.textContent())!
  await expect.poll(() => links(page).allTextContents()).toEqual([expect.stringContaining('never opened')])
  await page.evaluate('document.activeElement.blur()')
  await expectGoodLooks(page, 'share-dialog')

  const visitor = await stage.open('about:blank', { reducedMotion: 'reduce' })
  const requests = watchRequests(visitor.page)
  await visitor.page.goto(url)
  await visitor.page.getByRole('heading', { level: 1 }).waitFor()
  await visitor.page.getByRole('region', { name: 'What went wrong' }).waitFor()
  // The player, the timeline, the list and the details work as on the page of the dashboard.
  await visitor.page.keyboard.press('e')
  await visitor.page.getByRole('tab', { name: 'Error' }).click()
  await visitor.page.getByText('customer_id cannot be null').first().waitFor()
  await visitor.page.locator('.step-row').nth(3).click()
  await expect.poll(() => new URL(visitor.page.url()).searchParams.get('step')).not.toBeNull()
  // The address still opens the link, at this place.
  expect(new URL(visitor.page.url()).hash).toBe(new URL(url).hash)
  await expectGoodLooks(visitor.page, 'shared-page')

  // Nothing writes, or leads elsewhere.
  expect(await visitor.page.locator('a[href^="/"], a[href*="127.0.0.1"]').count()).toBe(0)
  const names = await visitor.page.getByRole('button').allTextContents()
  const absent = /share|run from here|tag|verify|make a test|^(right|wrong|unsure)/i
  expect(names.filter((name) => absent.test(name))).toEqual([])
  await visitor.page.getByRole('button', { name: 'Export' }).click()
  expect(await visitor.page.getByRole('menuitem').allTextContents()).toEqual([
    'Copy link to this point',
    'Copy as prompt for a coding agent',
  ])
  await visitor.page.keyboard.press('Escape')
  const paths = requests.map(({ path }) => path)
  expect(paths.filter((path) => path.startsWith('/api/') && !path.startsWith('/api/shared/'))).toEqual([])
  expect(paths.filter((path) => path.includes('phs_'))).toEqual([])
  expect(requests.filter(({ referrer }) => Boolean(referrer))).toEqual([])

  // Opened once, whatever was looked at.
  await page.reload()
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await expect.poll(() => links(page).first().textContent()).toContain('opened once')
  await links(page).first().getByRole('button', { name: 'Revoke' }).click()
  await expect.poll(() => links(page).first().textContent()).toContain('revoked')

  // The open page says so at its next request; opened again, there is only that.
  await visitor.page.reload()
  await visitor.page.getByRole('heading', { name: 'This link was revoked' }).waitFor()
  await expectGoodLooks(visitor.page, 'share-ended')
  expect(visitor.problems.filter((problem) => !/status of 410/.test(problem))).toEqual([])
  expect(member.problems).toEqual([])
  await visitor.close()
  await member.close()
})

test('without content, the page has none, and says why', async () => {
  const member = await openAsMember(`/sessions/${traceId}`)
  await member.page.getByRole('button', { name: 'Share', exact: true }).click()
  await dialog(member.page)
    .getByLabel(/Leave out content/)
    .check()
  const url = await createLink(member.page)
  await member.close()

  const { page, problems, close } = await stage.open(url, { reducedMotion: 'reduce' })
  await page.getByText('Content left out').waitFor()
  await page.keyboard.press('e')
  await page.getByText('Whoever shared this session left out its content.').first().waitFor()
  const text = (await page.locator('body').textContent())!
  expect(text).toContain('extract_customer_id')
  for (const said of ['cannot be null', prompt]) expect(text).not.toContain(said)
  await expectGoodLooks(page, 'shared-page-without-content')
  expect(problems).toEqual([])
  await close()
})

test('a link that was cut off says so, and works once it is whole', async () => {
  const { share, token } = await stage.server.services.gate.shares.create({
    project: 'default',
    sessionId: traceId,
    hasContent: true,
    createdBy: '',
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
  })
  const { page, close } = await stage.open(`/shared/${share.id}#${token.slice(0, -5)}`)
  await page.getByRole('heading', { name: 'This link is not complete' }).waitFor()
  await takeScreenshot(page, 'share-cut')
  await page.evaluate(`location.hash = '${token}'`)
  await page.locator('.step-row').first().waitFor()
  expect(await page.getByRole('heading', { name: 'This link is not complete' }).count()).toBe(0)
  await close()
})
