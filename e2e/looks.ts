import type { Page } from '@playwright/test'

/** A page in some state: how to get there, and an element that shows when it is reached. */
export type Look = {
  name: string
  path: string
  isThere: string
  /** All that differs from another look of the same page. The rest is not looked at again. */
  part?: string
  act?: (page: Page) => Promise<unknown>
}

const ROW = '.session-rows .session-row'

const sessionsLooks: readonly Look[] = [
  { name: 'sessions', path: '/sessions', isThere: ROW },
  {
    name: 'sessions-filtered',
    path: '/sessions?q=status:fail+tag:v2.1+cost:cheap&from=30d&sort=duration',
    isThere: '.filter-problems',
  },
  {
    name: 'sessions-suggestions',
    path: '/sessions?q=status:fail',
    isThere: ROW,
    part: '[role=listbox]',
    act: async (page) => {
      await page.getByRole('combobox', { name: 'Filter sessions' }).fill('tag:')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('ArrowDown')
    },
  },
  {
    name: 'sessions-selected',
    path: '/sessions',
    isThere: ROW,
    act: async (page) => {
      await page.locator('[data-index="1"]').focus()
      await page.keyboard.press('x')
      await page.keyboard.press('Shift+ArrowDown')
    },
  },
  {
    name: 'sessions-delete',
    path: '/sessions',
    isThere: ROW,
    part: '[role=dialog]',
    act: async (page) => {
      await page.locator('[data-index="0"]').focus()
      await page.keyboard.press('x')
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'sessions-nothing', path: '/sessions?q=tag:nowhere&from=24h', isThere: '.nothing-found' },
  { name: 'sessions-empty', path: '/sessions?project=empty', isThere: '.first-session' },
  {
    name: 'palette',
    path: '/sessions',
    isThere: ROW,
    part: '[role=dialog]',
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
    },
  },
]

/** Every page except the replay, in every state that looks different. */
export const pageLooks: readonly Look[] = [
  ...sessionsLooks,
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
  { name: 'settings-logins', path: '/settings/logins', isThere: '.settings-note' },
  { name: 'settings-audit', path: '/settings/audit', isThere: '.audit-table' },
  {
    name: 'settings-audit-nothing',
    path: '/settings/audit',
    isThere: '.audit-table',
    act: async (page) => {
      await page.getByLabel('Show').selectOption('backup')
      await page.locator('.settings-note').waitFor()
    },
  },
  { name: 'settings-monitors', path: '/settings/monitors', isThere: '.monitor-card' },
  { name: 'settings-alerts', path: '/settings/alerts', isThere: '.delivery-table' },
  { name: 'settings-alerts-empty', path: '/settings/alerts?project=empty', isThere: '.settings-note' },
  {
    name: 'settings-alerts-edit',
    path: '/settings/alerts',
    isThere: '.destination-card',
    part: '[role=dialog]',
    act: async (page) => {
      await page.getByRole('button', { name: 'Edit Mail of the team' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'settings-alerts-attempts',
    path: '/settings/alerts',
    isThere: '.delivery-table',
    part: '.delivery-table',
    act: async (page) => {
      await page.locator('.delivery-attempts summary').first().click()
      await page.locator('.delivery-attempts li').first().waitFor()
      await page.getByRole('button', { name: 'Send test to Hook' }).click()
      await page.getByText(/^Test: Not reached/).waitFor()
    },
  },
  { name: 'settings-prices', path: '/settings/prices', isThere: '.unpriced' },
  { name: 'settings-retention', path: '/settings/retention', isThere: '.settings-form' },
  { name: 'settings-redaction', path: '/settings/redaction', isThere: '.code-block' },
  { name: 'settings-health', path: '/settings/health', isThere: '.settings-table' },
  { name: 'settings-about', path: '/settings/about', isThere: '.about' },
  { name: 'unknown-page', path: '/nowhere', isThere: '.page-problem' },
  { name: 'unknown-session', path: '/sessions/0123456789abcdef0123456789abcdef', isThere: '[role=alert]' },
]

const STEP = '.step-row.is-selected'

/** The replay of each sample session. */
export function replayLooks(
  ids: Record<'failing' | 'agents' | 'long' | 'lost' | 'hostile' | 'troubled', string>,
): Look[] {
  const sessions = Object.entries(ids).map(([name, id]) => ({
    name: `replay-${name}`,
    path: `/sessions/${id}`,
    isThere: STEP,
  }))
  const tabs = ['error', 'conversation', 'logs', 'attributes', 'raw'].map((tab) => ({
    name: `replay-tab-${tab}`,
    path: `/sessions/${ids.failing}?tab=${tab}`,
    isThere: '[role=tabpanel][data-state=active]',
    part: '[role=tabpanel][data-state=active]',
  }))
  const help: Look = {
    name: 'replay-help',
    path: `/sessions/${ids.failing}`,
    isThere: STEP,
    part: '[role=dialog]',
    act: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  }
  return [...sessions, ...tabs, help]
}
