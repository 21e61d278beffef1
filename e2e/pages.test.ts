import type { Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tracesPayload, type SpanOptions } from '../packages/server/test/otlp.ts'
import { DESKTOP, PHONE, startStage, takeScreenshot, type Stage } from './browser.ts'
import { findViolations } from './find-violations.ts'
import { listedSession, manySessions, testSessions } from './sample-lists.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
  await stage.post({ spans: manySessions(120) })
})
afterAll(() => stage.stop())

async function postTo(project: string, spans: SpanOptions[]): Promise<void> {
  await stage.server.request('/v1/traces', {
    json: tracesPayload(spans),
    headers: { 'x-playhead-project': project },
  })
}

const listed = (page: Page) => page.locator('.chart-panel strong').first()

describe('overview', () => {
  test('numbers link to the sessions behind them', async () => {
    const { page, problems, close } = await stage.open('/overview?from=all')
    const failing = page.getByRole('region', { name: 'Actions that fail most' }).getByRole('row').nth(1)
    await failing.waitFor()
    const text = (await failing.textContent())!
    const failed = Number(/(\d+) of \d+$/.exec(text)![1])
    await failing.getByRole('link').last().click()
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toMatch(/^failedTool:/)
    await expect.poll(() => listed(page).textContent()).toBe(String(failed))
    await page.goBack()

    const error = page.getByRole('region', { name: 'Top errors' }).getByRole('row').nth(1)
    await error.waitFor()
    expect(await error.textContent()).toContain('customer_id cannot be null')
    await error.getByRole('link').last().click()
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/sessions\/[0-9a-f]{32}$/)
    expect(problems).toEqual([])
    await close()
  })

  test('compares with the previous period, if there is one', async () => {
    const { page, close } = await stage.open('/overview')
    await expect.poll(() => page.locator('.headline').first().textContent()).toMatch(/Sessions6\d/)
    await page.goto(`${stage.server.url}/overview?from=30d`)
    await expect.poll(() => page.locator('.headline-change').first().textContent()).toBe('no earlier data')
    await page.getByRole('radio', { name: 'All time' }).click()
    await expect.poll(() => page.locator('.headline-change').first().textContent()).toBe('all time')
    expect(new URL(page.url()).searchParams.get('from')).toBe('all')
    await close()
  })

  test('lists models without a price', async () => {
    const { page, close } = await stage.open('/overview?from=all')
    const costs = page.getByRole('region', { name: 'Cost by model' })
    await expect.poll(() => costs.textContent()).toMatch(/house-llama-70b.*no price/)
    await costs.getByRole('link', { name: '1 model has no price' }).click()
    await page.getByRole('button', { name: 'house-llama-70b' }).waitFor()
    await close()
  })
})

describe('tests', () => {
  beforeAll(async () => {
    await stage.server.services.registry.createProject({ id: 'tested', name: 'Tested' })
    await postTo('tested', testSessions())
  })

  test('show pass rates with their intervals, and every run opens its session', async () => {
    const { page, problems, close } = await stage.open('/tests?project=tested')
    const steady = page.getByRole('row').filter({ hasText: 'answers from customer data' })
    await steady.waitFor()
    expect(await steady.textContent()).toContain('100%20/20')
    expect(await steady.textContent()).toContain('84–100%')
    const wavering = page.getByRole('row').filter({ hasText: 'asks before it refunds' })
    expect(await wavering.textContent()).toContain('flaky')

    await page.getByLabel('Branch').selectOption('feature/refunds')
    await expect.poll(() => page.locator('.test-row').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('branch')).toBe('feature/refunds')
    await page.locator('.run-cell').last().focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/sessions\/[0-9a-f]{32}$/)
    expect(new URL(page.url()).searchParams.get('project')).toBe('tested')
    expect(problems).toEqual([])
    await close()
  })

  test('with inputs open as a matrix', async () => {
    const { page, close } = await stage.open('/tests?project=tested')
    await page.getByRole('link', { name: /billing, any phrasing/ }).click()
    const matrix = page.getByRole('table', { name: 'Inputs and attempts of billing, any phrasing' })
    await matrix.waitFor()
    expect(await matrix.getByRole('row').allTextContents()).toEqual([
      'Input1234Passed',
      'I was charged twice4 of 4',
      'Charged me double4 of 4',
      'doppelt abgebucht1 of 4',
    ])
    await page.reload()
    await matrix.waitFor()
    await close()
  })

  test('show instructions when there are none', async () => {
    const { page, close } = await stage.open('/tests')
    const heading = page.getByRole('heading', { name: 'Tests appear here when they run' })
    await heading.waitFor()
    expect(await heading.count()).toBe(1)
    await close()
  })
})

describe('settings', () => {
  test('a new project becomes the project of every page', async () => {
    const { page, close } = await stage.open('/settings/projects')
    await page.getByLabel('Name').fill('Shop bot')
    await page.getByRole('button', { name: 'Create project' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('project')).toBe('shop-bot')
    await page.getByRole('heading', { name: 'Record your first session' }).waitFor()
    for (const name of ['Overview', 'Tests', 'Settings']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await expect.poll(() => new URL(page.url()).searchParams.get('project')).toBe('shop-bot')
    }
    await postTo('shop-bot', listedSession({ name: 'In the shop', startMs: Date.now() }))
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sessions' }).click()
    await page.getByText('In the shop').first().waitFor()
    await page.getByRole('button', { name: /^Project: Shop bot/ }).click()
    await page.getByRole('menuitem', { name: 'Default' }).click()
    await expect.poll(() => listed(page).textContent()).toBe('120')
    await close()
  })

  test('a key is shown once, works, and is revoked', async () => {
    const { page, close } = await stage.open('/settings/keys')
    await page.getByLabel('Name').fill('CI')
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = (await page.getByRole('dialog').locator('pre').first().textContent())!
    expect(secret).toMatch(/^ph_/)
    const use = () => stage.server.request('/api/sessions?limit=1', { headers: { 'x-api-key': secret } })
    expect((await use()).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    await expect.poll(async () => (await page.content()).includes(secret)).toBe(false)

    await page.getByRole('button', { name: 'Revoke CI' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText(/^Revoked/).waitFor()
    const { keys } = (await (await stage.server.request('/api/keys')).json()) as {
      keys: { revokedAt: string | null }[]
    }
    expect(keys.every(({ revokedAt }) => revokedAt !== null)).toBe(true)
    await close()
  })

  test('a price is set for a model without one, and costs are recalculated', async () => {
    const { page, close } = await stage.open('/settings/prices')
    await page.getByRole('button', { name: 'house-llama-70b' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await page.getByText('Enter an amount in US dollars').count()).toBe(2)
    await page.getByLabel('Input', { exact: true }).fill('1')
    await page.getByLabel('Output', { exact: true }).fill('2')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: '$1.00', exact: true }).waitFor()

    await page.getByRole('button', { name: 'Recalculate all costs' }).click()
    await expect
      .poll(() => page.locator('.reprice-result').textContent())
      .toMatch(/40 steps of 40 sessions changed/)
    expect(await page.locator('.reprice-result').textContent()).toContain('no price')
    await expect.poll(() => page.locator('.unpriced').count()).toBe(0)
    await close()
  })

  test('a shorter retention asks for confirmation', async () => {
    const { page, close } = await stage.open('/settings/retention?project=default')
    await page.getByLabel('Days').fill('1.5')
    await page.getByText('Enter a whole number').waitFor()
    await page.getByLabel('Days').fill('90')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Keep 90 days' }).click()
    await expect.poll(() => stage.server.services.registry.project('default')?.retentionDays).toBe(90)
    await close()
  })

  test('health shows the tables of the store', async () => {
    const { page, close } = await stage.open('/settings/health')
    await page.getByRole('cell', { name: 'sessions' }).waitFor()
    await expect.poll(() => page.getByText('rows/s').count()).toBe(1)
    await close()
  })
})

test('Ctrl+K finds pages, sessions and themes', async () => {
  const { page, problems, close } = await stage.open('/overview')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('combobox', { name: 'Search or go to' })
  await palette.fill('keys')
  await page.getByRole('option', { name: 'Settings: keys' }).click()
  await expect.poll(() => new URL(page.url()).pathname).toBe('/settings/keys')

  const [session] = await stage.server.sessions('limit=1')
  await page.keyboard.press('Control+k')
  await palette.fill(`s_${session!.id.slice(0, 10)}`)
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/sessions/${session!.id.slice(0, 10)}`)

  await page.keyboard.press('Control+k')
  await palette.fill('theme: dark')
  await page.getByRole('option', { name: 'Theme: dark', exact: true }).click()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  expect(problems).toEqual([])
  await close()
})

test('a server with a password asks for it, returns to the requested page, and logs out', async () => {
  const guarded = await startStage({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: 'correct horse' })
  const { page, close } = await guarded.open('/sessions?q=status:fail')
  await page.getByRole('heading', { name: 'Log in to Playhead' }).waitFor()
  await page.getByLabel('Password').fill('wrong horse')
  await page.keyboard.press('Enter')
  await page.getByText('Wrong password').waitFor()
  await takeScreenshot(page, 'login-desktop-light')
  expect(await findViolations(page)).toEqual([])
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await takeScreenshot(page, 'login-phone-dark')
  expect(await findViolations(page)).toEqual([])
  await page.setViewportSize(DESKTOP)
  await page.getByLabel('Password').fill('correct horse')
  await page.keyboard.press('Enter')
  await page.getByText('No matching sessions').waitFor()
  expect(new URL(page.url()).search).toBe('?q=status:fail')

  await loseCookieOnTheWay(page)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tests' }).click()
  await page.getByRole('heading', { name: 'Log in to Playhead' }).waitFor()
  await page.getByLabel('Password').fill('correct horse')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Tests', exact: true }).waitFor()

  await endOtherLogins(page, guarded)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in to Playhead' }).waitFor()
  await close()
  await guarded.stop()
})

/** The next request of a test list finds no cookie. Deleted before the click, another request could find out first. */
async function loseCookieOnTheWay(page: Page): Promise<void> {
  await page.route(
    /\/api\/tests/,
    async (route) => {
      await page.context().clearCookies()
      await route.continue()
    },
    { times: 1 },
  )
}

/** The first login of the browser is still there, because only its cookie was deleted. */
async function endOtherLogins(page: Page, { server }: Stage): Promise<void> {
  await server.request('/api/login', { json: { password: 'correct horse' } })
  await page.goto(`${server.url}/settings/logins`)
  await page.getByText('This browser').waitFor()
  expect(await page.locator('.settings-table tbody tr').count()).toBe(3)
  for (const [size, theme] of [
    [DESKTOP, 'light'],
    [PHONE, 'dark'],
  ] as const) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: theme })
    await takeScreenshot(page, `settings-logins-${size === DESKTOP ? 'desktop' : 'phone'}-${theme}-auth`)
    expect(await findViolations(page)).toEqual([])
  }
  await page.setViewportSize(DESKTOP)
  await page.getByRole('button', { name: 'End the login of node' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('.settings-table tbody tr').count()).toBe(2)
  await page.getByRole('button', { name: 'End all other logins' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End logins' }).click()
  await expect.poll(() => page.locator('.settings-table tbody tr').count()).toBe(1)

  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('Wrong password').waitFor()
  await takeScreenshot(page, 'settings-audit-desktop-dark-auth')
  await page.getByLabel('Search the audit log').fill('no such entry')
  await page.getByText('No entries match.').waitFor()
}
