import { afterAll, beforeAll, expect, test } from 'vitest'
import { otlpFolders, otlpRequests } from '../packages/server/test/fixtures.ts'
import { startStage, takeScreenshot, walkTabs, type Stage } from './browser.ts'
import { failingSession } from './sample-sessions.ts'

let stage: Stage
const failing = failingSession()

beforeAll(async () => {
  stage = await startStage()
  await stage.post(failing)
}, 240_000)

afterAll(() => stage.stop())

test('what every real SDK sent opens without a complaint', async () => {
  for (const folder of otlpFolders())
    for (const { path, contentType, body } of otlpRequests(folder))
      await stage.server.request(path, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { 'content-type': contentType },
      })
  const sessions = await stage.server.sessions()
  expect(sessions.length).toBeGreaterThan(10)
  const { page, problems, close } = await stage.open('/sessions')
  for (const { id, name } of sessions.slice(0, 40)) {
    // As a link would go there, without loading the page again.
    await page.evaluate(`history.pushState(null, '', '/sessions/${id}')`)
    await page.getByRole('button', { name: `Copy ID ${id}` }).waitFor()
    await page.locator('.step-row').first().waitFor()
    await walkTabs(page)
    expect([name, problems]).toEqual([name, []])
  }
  await close()
})

test('printing gives the header, the error, the steps and the chosen step', async () => {
  const { page, close } = await stage.open(`/sessions/${failing.traceId}`)
  await page.locator('.argument.is-problem').waitFor()
  await page.emulateMedia({ media: 'print' })
  await page.locator('.printed-steps').waitFor()
  expect(await page.locator('.printed-steps tr').count()).toBe(7)
  for (const shown of ['h1', '.error-box', '.argument.is-problem'])
    expect(await page.locator(shown).first().isVisible()).toBe(true)
  for (const hidden of ['.transport', '.step-list', '.shell-bar', '.state-bar'])
    expect(await page.locator(hidden).isVisible()).toBe(false)
  await page.setViewportSize({ width: 794, height: 1123 })
  await takeScreenshot(page, 'replay-printed')
  await close()
})

test('reduced motion is honoured', async () => {
  const { page, close } = await stage.open(`/sessions/${failing.traceId}`, {
    reducedMotion: 'reduce',
  })
  await page.locator('.step-row').first().waitFor()
  const moving = await page.evaluate(
    `[...document.querySelectorAll('*')].filter((element) => parseFloat(getComputedStyle(element).animationDuration) > 0.1 && getComputedStyle(element).animationName !== 'none').length`,
  )
  expect(moving).toBe(0)
  await close()
})
