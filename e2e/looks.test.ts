import type { Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tracesPayload } from '../packages/server/test/otlp.ts'
import { DESKTOP, PHONE, startStage, takeScreenshot, type OpenPage, type Stage } from './browser.ts'
import { findViolations } from './find-violations.ts'
import { pageLooks, replayLooks, type Look } from './looks.ts'
import { manySessions, testSessions } from './sample-lists.ts'
import { hostileSession, longSession, troubledSession } from './sample-extremes.ts'
import { failingSession, lostSession, multiAgentSession } from './sample-sessions.ts'

/** `npm run screenshots` covers both sizes in both themes; the tests cover each size and each theme once. */
const isEverything = process.env.PLAYHEAD_SCREENSHOTS === 'all'
const views = (['desktop', 'phone'] as const).flatMap((size) =>
  (['light', 'dark'] as const)
    .filter((theme) => isEverything || (size === 'desktop') === (theme === 'light'))
    .map((theme) => ({ size, theme })),
)

const samples = {
  failing: failingSession(),
  agents: multiAgentSession(),
  long: longSession(isEverything ? 10_000 : 1_000),
  lost: lostSession(),
  hostile: hostileSession(),
  troubled: troubledSession(),
}
const ids = Object.fromEntries(
  Object.entries(samples).map(([name, { traceId }]) => [name, traceId]),
) as Record<keyof typeof samples, string>

const ABOUT = '/settings/about'

let stage: Stage
let opened: OpenPage
beforeAll(async () => {
  stage = await startStage()
  await stage.post({ spans: [...manySessions(isEverything ? 300 : 12), ...testSessions()] })
  for (const sample of Object.values(samples)) await stage.post(sample)
  const { registry } = stage.server.services
  await registry.createProject({ id: 'empty', name: 'Empty' })
  await stage.server.request('/api/keys', { json: { name: 'CI', scopes: ['ingest', 'read'] } })
  const priceOverrides = [{ model: 'my-own-model*', inputPerMillion: 0.5, outputPerMillion: 1.5 }]
  await stage.server.request('/api/projects/default', { method: 'PATCH', json: { priceOverrides } })
  await addWatch(stage)
  const demo = tracesPayload(manySessions(3), { 'service.name': 'demo', 'playhead.demo': true })
  await stage.server.postTraces(demo)
  opened = await stage.open(ABOUT, { reducedMotion: 'reduce' })
})
afterAll(() => stage.stop())

describe('no accessibility violations, and no horizontal overflow', () => {
  test.each([...pageLooks, ...replayLooks(ids)])('$name', async (look) => {
    const { page, problems } = opened
    problems.length = 0
    await show(page, look)
    for (const { size, theme } of views) {
      await page.setViewportSize(size === 'desktop' ? DESKTOP : PHONE)
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await takeScreenshot(page, `${look.name}-${size}-${theme}`)
      const violations = await findViolations(page, look.part)
      expect({ size, theme, violations }).toEqual({ size, theme, violations: [] })
      await expect.poll(() => overflowOf(page)).toBe(0)
    }
    // The browser logs the 404 of unknown pages.
    expect(problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
  })
})

/** Two monitors and two destinations, one of which was tested. Nothing leaves this machine: the addresses are refused, as both were saved by an earlier version. */
async function addWatch({ server }: Stage): Promise<void> {
  const { destinations } = server.services
  const common = { isEnabled: true, includesText: false }
  const mail = {
    host: '10.0.0.25',
    port: 587,
    security: 'starttls',
    user: 'playhead',
    password: 'x',
  } as const
  const people = { from: 'playhead@example.com', to: ['on-call@example.com', 'agents@example.com'] }
  const project = 'default'
  await destinations.save({
    project,
    id: 'mail-of-the-team',
    definition: { ...common, kind: 'email', name: 'Mail of the team', ...mail, ...people },
  })
  await destinations.save({
    project,
    id: 'hook',
    definition: {
      ...common,
      kind: 'webhook',
      name: 'Hook',
      url: 'http://10.0.0.7/hooks/1',
      secret: 'whsec_x',
    },
  })
  await server.request('/api/destinations/hook/test', { method: 'POST' })
  const off = { ...common, isEnabled: false }
  const { definition } = destinations.find(project, 'hook')
  await destinations.save({ project, id: 'hook', definition: { ...definition, ...off } })
  const rate = { kind: 'rate', measure: 'failure-rate', is: 'above', limit: 0, minimum: 1 }
  const failures = { ...rate, windowMs: 30 * 86_400_000 }
  await server.request('/api/monitors', { json: { name: 'Failures', condition: failures } })
  const condition = { kind: 'silence', windowMs: 1_800_000 }
  await server.request('/api/monitors', { json: { name: 'Silence', condition, destinations: ['hook'] } })
}

/** What a look did to the page, such as to open a dialog, only a new load undoes. */
let isTouched = false

async function show(page: Page, { path, isThere, act }: Look): Promise<void> {
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  if (isTouched) await page.goto(`${stage.server.url}${path}`)
  else await follow(page, path, isThere)
  isTouched = act !== undefined
  await page.locator(`${isThere}:not([data-left])`).first().waitFor()
  await expect.poll(() => page.locator('.skeleton:not(.session-more .skeleton)').count()).toBe(0)
  await act?.(page)
}

/** Goes there as a link does: to load the page takes longer than to look at it. What it leaves is marked. */
async function follow(page: Page, path: string, isThere: string): Promise<void> {
  const { pathname } = new URL(page.url())
  // A page keeps what its next state has too.
  if (pathname !== ABOUT && pathname === new URL(path, page.url()).pathname) {
    await follow(page, ABOUT, '.about')
    await page.locator('.about').waitFor()
  }
  await page.evaluate(`
    for (const element of document.querySelectorAll(${JSON.stringify(isThere)})) element.dataset.left = ''
    history.pushState({}, '', ${JSON.stringify(path)})
    dispatchEvent(new PopStateEvent('popstate'))`)
}

/** How far the page is wider than its window. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
