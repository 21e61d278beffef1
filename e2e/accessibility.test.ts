import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tracesPayload } from '../packages/server/test/otlp.ts'
import { DESKTOP, PHONE, startStage, takeScreenshot, type Stage } from './browser.ts'
import { manySessions, testSessions } from './sample-lists.ts'
import { failingSession, lostSession, multiAgentSession } from './sample-sessions.ts'

let stage: Stage
let guarded: Stage
beforeAll(async () => {
  ;[stage, guarded] = await Promise.all([
    startStage(),
    startStage({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: 'correct horse' }),
  ])
  await stage.post({ spans: [...manySessions(300), ...testSessions()] })
  for (const session of [multiAgentSession(), lostSession(), failingSession()]) await stage.post(session)
  const { registry } = stage.server.services
  await registry.createProject({ id: 'empty', name: 'Empty' })
  await registry.createKey({ project: 'default', name: 'CI', scopes: ['ingest', 'read'] })
  await registry.updateProject('default', {
    priceOverrides: [{ model: 'my-own-model*', inputPerMillion: 0.5, outputPerMillion: 1.5 }],
  })
  const demo = tracesPayload(manySessions(3), { 'service.name': 'demo', 'playhead.demo': true })
  await stage.server.postTraces(demo)
})
afterAll(() => Promise.all([stage.stop(), guarded.stop()]))

type Look = { name: string; path: string; isThere: string; act?: (page: Page) => Promise<unknown> }

const looks: readonly Look[] = [
  { name: 'sessions', path: '/sessions', isThere: '.session-rows .session-row' },
  {
    name: 'sessions-filtered',
    path: '/sessions?q=status:fail+tag:v2.1+cost:cheap&from=30d&sort=duration',
    isThere: '.filter-problems',
  },
  {
    name: 'sessions-suggestions',
    path: '/sessions?q=status:fail',
    isThere: '.session-rows .session-row',
    act: async (page) => {
      await page.getByRole('combobox', { name: 'Filter sessions' }).fill('tag:')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('ArrowDown')
    },
  },
  {
    name: 'sessions-selected',
    path: '/sessions',
    isThere: '.session-rows .session-row',
    act: async (page) => {
      await page.locator('[data-index="1"]').focus()
      await page.keyboard.press('x')
      await page.keyboard.press('Shift+ArrowDown')
    },
  },
  {
    name: 'sessions-delete',
    path: '/sessions',
    isThere: '.session-rows .session-row',
    act: async (page) => {
      await page.locator('[data-index="0"]').focus()
      await page.keyboard.press('x')
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'sessions-nothing', path: '/sessions?q=tag:nowhere&from=24h', isThere: '.nothing-found' },
  { name: 'sessions-empty', path: '/sessions?project=empty', isThere: '.first-session' },
  { name: 'overview', path: '/overview?from=30d', isThere: '.top-errors' },
  { name: 'overview-empty', path: '/overview?project=empty', isThere: '.overview-empty' },
  { name: 'tests', path: '/tests', isThere: '.test-row' },
  {
    name: 'tests-matrix',
    path: '/tests?test=test/billing.test.ts::billing::billing,+any+phrasing',
    isThere: '.variant-matrix',
  },
  { name: 'tests-empty', path: '/tests?project=empty', isThere: '.no-tests' },
  { name: 'settings-projects', path: '/settings/projects', isThere: '.settings-table' },
  { name: 'settings-keys', path: '/settings/keys', isThere: '.settings-table' },
  { name: 'settings-prices', path: '/settings/prices', isThere: '.unpriced' },
  { name: 'settings-retention', path: '/settings/retention', isThere: '.settings-form' },
  { name: 'settings-redaction', path: '/settings/redaction', isThere: '.code-block' },
  { name: 'settings-health', path: '/settings/health', isThere: '.settings-table' },
  { name: 'settings-about', path: '/settings/about', isThere: '.about' },
  {
    name: 'palette',
    path: '/sessions',
    isThere: '.session-rows .session-row',
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
    },
  },
]

const windows = [
  { name: 'desktop', viewport: DESKTOP },
  { name: 'phone', viewport: PHONE },
]

describe.each(windows)('$name', ({ name: size, viewport }) => {
  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    const options = { viewport, colorScheme, reducedMotion: 'reduce' } as const

    test.each(looks)('$name', async ({ name, path, isThere, act }) => {
      const { page, problems, close } = await stage.open(path, options)
      await page.locator(isThere).first().waitFor()
      await page.waitForLoadState('networkidle').catch(() => undefined)
      await act?.(page)
      await takeScreenshot(page, `${name}-${size}-${colorScheme}`)
      expect(await findViolations(page)).toEqual([])
      expect(await overflowOf(page)).toBe(0)
      expect(problems).toEqual([])
      await close()
    })

    test('login', async () => {
      const { page, close } = await guarded.open('/sessions', options)
      await page.getByLabel('Password').fill('wrong horse')
      await page.keyboard.press('Enter')
      await page.getByText('That is not the password').waitFor()
      await takeScreenshot(page, `login-${size}-${colorScheme}`)
      expect(await findViolations(page)).toEqual([])
      await close()
    })
  })
})

async function findViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  )
}

/** By how much the page is wider than its window. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
