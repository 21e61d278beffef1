import type { Page } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tracesPayload } from '../packages/server/test/otlp.ts'
import { startStage, takeScreenshot, type Stage } from './browser.ts'
import { failingSession, multiAgentSession } from './sample-sessions.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.stop())

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`)) return
  }
  throw new Error(`Tab does not reach ${selector}`)
}

/** If the example agent is not installed, sends demo sessions in its place. */
async function mockDemo(page: Page): Promise<void> {
  const { isAvailable } = (await (await stage.server.request('/api/demo')).json()) as { isAvailable: boolean }
  if (isAvailable) return
  await page.route('**/api/demo*', async (route) => {
    if (route.request().method() === 'GET') return route.fulfill({ json: { isAvailable: true } })
    for (const { spans } of [multiAgentSession(), failingSession()])
      await stage.server.postTraces(tracesPayload(spans, { 'service.name': 'demo', 'playhead.demo': true }))
    return route.fulfill({ json: { ok: true } })
  })
}

test('with the keyboard only: from an empty store to the demo session that fails', async () => {
  const { page, problems, close } = await stage.open('/settings/about')
  await mockDemo(page)
  await page.goto(stage.server.url)
  await page.getByRole('heading', { name: 'Record your first session' }).waitFor()
  await page.getByRole('button', { name: 'Load demo' }).waitFor()
  await takeScreenshot(page, 'newcomer-empty')

  await tabTo(page, '.first-demo button')
  await page.keyboard.press('Enter')
  const rows = page.locator('.session-rows .session-row')
  const states = () => page.locator('.session-rows .session-state').allTextContents()
  await expect.poll(() => rows.count()).toBeGreaterThan(1)
  // Sessions appear while they run.
  await expect.poll(states).toContain('Fail')
  await expect.poll(states).not.toContain('Running')
  await expect.poll(() => page.locator('.session-demo').count()).toBeGreaterThan(1)
  await takeScreenshot(page, 'newcomer-demo')

  await page.keyboard.press('/')
  await page.keyboard.type('status:fail failedTool:fetch_customer_data ')
  await expect.poll(async () => new Set(await states())).toEqual(new Set(['Fail']))
  await tabTo(page, '[role="row"][data-index]')
  const name = String(await page.evaluate("document.activeElement.querySelector('a').textContent"))
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/sessions\/[0-9a-f]{32}$/)
  await expect.poll(() => page.locator('main').textContent()).toContain(name)

  // The error is visible, and the keys step back to the start and return to it.
  await page.locator('.error-box').first().waitFor()
  await page.locator('.argument.is-problem').waitFor()
  const failedAt = await page.locator('.transport-clock b').innerText()
  await page.keyboard.press('Home')
  expect(await page.locator('.transport-clock b').innerText()).toBe('00:00.000')
  await page.keyboard.press('e')
  expect(await page.locator('.transport-clock b').innerText()).toBe(failedAt)
  expect(problems).toEqual([])
  await close()
})
