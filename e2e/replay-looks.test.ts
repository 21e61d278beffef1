import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { otlpFolders, otlpRequests } from '../packages/server/test/fixtures.ts'
import { DESKTOP, PHONE, startStage, takeScreenshot, type Stage } from './browser.ts'
import {
  failingSession,
  hostileSession,
  longSession,
  lostSession,
  multiAgentSession,
} from './sample-sessions.ts'

let stage: Stage
const samples = {
  failing: failingSession(),
  agents: multiAgentSession(),
  long: longSession(3_000),
  lost: lostSession(),
  hostile: hostileSession(),
}

beforeAll(async () => {
  stage = await startStage()
  for (const sample of Object.values(samples)) await stage.post(sample)
}, 240_000)

afterAll(() => stage.stop())

type Look = { name: keyof typeof samples; colorScheme: 'light' | 'dark'; size: 'desktop' | 'phone' }

const looks: Look[] = [
  ...(['failing', 'agents'] as const).flatMap((name) =>
    (['light', 'dark'] as const).flatMap((colorScheme) =>
      (['desktop', 'phone'] as const).map((size) => ({ name, colorScheme, size })),
    ),
  ),
  { name: 'long', colorScheme: 'light', size: 'desktop' },
  { name: 'long', colorScheme: 'dark', size: 'phone' },
  { name: 'lost', colorScheme: 'dark', size: 'desktop' },
  { name: 'lost', colorScheme: 'light', size: 'phone' },
  { name: 'hostile', colorScheme: 'light', size: 'desktop' },
]

describe('axe finds nothing, and the page fits', () => {
  test.each(looks)(
    '$name, $colorScheme, $size',
    async ({ name, colorScheme, size }) => {
      const viewport = size === 'desktop' ? DESKTOP : PHONE
      const { traceId } = samples[name]
      const { page, problems, close } = await stage.open(`/sessions/${traceId}`, { viewport, colorScheme })
      await page.locator('.transport-clock').waitFor()
      await page.waitForTimeout(400)
      await takeScreenshot(page, `replay-${name}-${size}-${colorScheme}`)
      const { violations } = await new AxeBuilder({ page }).include('main').analyze()
      expect(
        violations.map(
          ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
        ),
      ).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
      expect(problems).toEqual([])
      await close()
    },
    90_000,
  )

  test.each(['error', 'conversation', 'logs', 'attributes', 'raw'])(
    'the tab %s',
    async (tab) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, close } = await stage.open(`/sessions/${samples.failing.traceId}?tab=${tab}`, {
          colorScheme,
          viewport: { width: 1200, height: 900 },
        })
        await page.locator('.step-row').first().waitFor()
        await page.waitForTimeout(300)
        await takeScreenshot(page, `replay-tab-${tab}-desktop-${colorScheme}`)
        const { violations } = await new AxeBuilder({ page }).include('main').analyze()
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
        await close()
      }
    },
    90_000,
  )
})

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
    await page.goto(`${stage.server.url}/sessions/${id}`)
    await page.locator('.step-row').first().waitFor()
    for (const tab of await page.getByRole('tab').all()) await tab.click()
    expect([name, problems]).toEqual([name, []])
  }
  await close()
}, 180_000)

test('printing gives the header, the error, the steps and the chosen step', async () => {
  const { page, close } = await stage.open(`/sessions/${samples.failing.traceId}`)
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
  const { page, close } = await stage.open(`/sessions/${samples.failing.traceId}`, {
    reducedMotion: 'reduce',
  })
  await page.locator('.step-row').first().waitFor()
  const moving = await page.evaluate(
    `[...document.querySelectorAll('*')].filter((element) => parseFloat(getComputedStyle(element).animationDuration) > 0.1 && getComputedStyle(element).animationName !== 'none').length`,
  )
  expect(moving).toBe(0)
  await close()
})
