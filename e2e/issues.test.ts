import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  healthySession,
  loopSession,
  toolSession,
} from '../packages/server/test/findings/failing-sessions.ts'
import { PHONE, startStage, type Stage } from './browser.ts'
import { expectGoodLooks } from './expect-good-looks.ts'

const HOUR = 3_600_000

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  const now = Date.now()
  const send = (spans: ReturnType<typeof loopSession>, version: string) =>
    stage.post({ spans, resource: { 'service.version': version } })
  await send(loopSession({ startMs: now - 3 * HOUR, userId: 'ada' }), '1')
  await send(loopSession({ startMs: now - 2 * HOUR, userId: 'bob' }), '2')
  await send(healthySession({ startMs: now - HOUR }), '2')
  const failed = { tool: 'refund_order', given: { id: 'o_1' }, error: 'order o_1 is locked' }
  await send(toolSession([failed], { name: 'shop', endState: 'Fail', startMs: now - HOUR }), '2')
  // Asking for the findings computes them now.
  for (const { id } of await stage.server.sessions('limit=10'))
    await stage.server.request(`/api/sessions/${id}/findings`)
})
afterAll(() => stage.stop())

test('an issue is counted, resolved, found among the resolved ones, and reopened', async () => {
  const { page, problems, close } = await stage.open('/issues')
  const rows = page.locator('.issue-row')
  await expect.poll(() => rows.count()).toBe(2)
  const loop = page.getByRole('link', { name: /search_help was called 5 times/ })
  await page.getByRole('link', { name: /refund_order failed/ }).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('All 2 sessions').waitFor()
  expect(await loop.getAttribute('aria-expanded')).toBe('true')
  expect(
    await page.getByRole('link', { name: 'Compare with the passing session' }).getAttribute('href'),
  ).toMatch(/^\/compare\?a=[0-9a-f]{32}&b=[0-9a-f]{32}$/)
  await page.getByLabel('Fixed in version').fill('3')
  await page.getByRole('button', { name: 'Resolve' }).click()
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('radio', { name: 'Resolved 1' }).click()
  await page.getByText('Resolved in 3').waitFor()
  await page.getByRole('button', { name: 'Reopen' }).click()
  await page.getByRole('radio', { name: 'Open 2' }).waitFor()
  await page.getByRole('radio', { name: 'Open 2' }).click()
  await page.getByRole('link', { name: /^Latest session/ }).click()
  await page.getByRole('region', { name: 'What went wrong' }).waitFor()
  expect(problems).toEqual([])
  await close()
})

test('the keyboard goes through the list, decides, makes a test and verifies', async () => {
  const { page, problems, close } = await stage.open('/issues')
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  const dialog = page.getByRole('dialog')
  await page.locator('.issue-row').first().waitFor()
  await page.keyboard.press('j')
  expect(await focused()).toContain('refund_order failed')
  await page.keyboard.press('e')
  await page.getByRole('radio', { name: 'Resolved 1' }).waitFor()
  await expect.poll(focused).toContain('search_help was called')
  await page.keyboard.press('i')
  await page.getByRole('radio', { name: 'Ignored 1' }).click()
  await page.locator('.issue-title').focus()
  await page.keyboard.press('i')
  await page.getByRole('radio', { name: 'All 2' }).click()
  await page.locator('.issue-title', { hasText: 'refund_order failed' }).focus()
  await page.keyboard.press('e')
  await page.getByRole('radio', { name: 'Open 2' }).click()
  await page.locator('.issue-title', { hasText: 'search_help was called' }).focus()
  await page.keyboard.press('k')
  await page.keyboard.press('j')
  await page.keyboard.press('t')
  await dialog.getByText(/which passed with the same input: red with the bug/).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('v')
  await dialog.getByRole('heading', { name: /^Run from step \d+: / }).waitFor()
  expect(await dialog.getByLabel('command', { exact: true }).innerText()).toContain('npx playhead fork s_')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.locator('.issue-title', { hasText: 'search_help was called' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Verify/ }).waitFor()
  await expectGoodLooks(page, 'issue-open')
  expect(problems).toEqual([])
  await close()
})

test('the list marks the kind of the first suspect and filters by it', async () => {
  const { page, close } = await stage.open('/sessions?q=finding%3Aloop')
  await expect.poll(() => page.locator('.session-finding').allTextContents()).toEqual(['loop', 'loop'])
  await close()
})

test('fits a phone, and says so if there are none', async () => {
  await stage.server.services.registry.createProject({ id: 'calm', name: 'Calm' })
  const { page, close } = await stage.open('/issues?project=calm', { viewport: PHONE })
  await page.getByRole('heading', { name: 'No issues' }).waitFor()
  await page.goto(`${stage.server.url}/issues?project=default`)
  await page.locator('.issue-row').first().waitFor()
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(overflow).toBe(0)
  await close()
})
