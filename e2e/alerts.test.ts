import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver, type Receiver } from '../packages/server/test/alerts/receiver.ts'
import { hex } from '../packages/server/test/otlp.ts'
import { session } from '../packages/server/test/project-server.ts'
import { DESKTOP, PHONE, startStage, takeScreenshot, type Stage } from './browser.ts'

const MINUTE = 60_000

let stage: Stage
let receiver: Receiver
beforeAll(async () => {
  stage = await startStage({ PLAYHEAD_ALERT_ALLOW: '127.0.0.1' })
  receiver = await startReceiver()
  await stage.server.services.monitorLoop.stop()
  await stage.server.services.alertWorker.stop()
})
afterAll(async () => {
  await receiver.close()
  await stage.stop()
})

test('somebody saves a destination, tests, edits, chooses and deletes it, with the keyboard', async () => {
  const { page, problems, close } = await stage.open('/settings/alerts')
  await page.getByText('Nobody is told yet.').waitFor()
  await page.getByText('No messages yet.').waitFor()
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
  }
  expect(await page.getByRole('button', { name: 'Save destination' }).isEnabled()).toBe(false)
  await page.getByLabel('Name', { exact: true }).fill('On call')
  await page.getByLabel('URL', { exact: true }).fill('http://10.1.2.3/hook')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .filter({ hasText: '10.1.2.3 is not a public address.' })
    .filter({ hasText: 'PLAYHEAD_ALERT_ALLOW' })
    .waitFor()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url)
  await page.keyboard.press('Enter')
  const secret = await page
    .getByRole('dialog')
    .getByText(/^whsec_/)
    .textContent()
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
  await press('Done')
  const card = page.getByRole('listitem').filter({ hasText: 'On call' })
  await card.getByText(`Webhook · http://127.0.0.1:${receiver.port}`).waitFor()
  expect(await page.content()).not.toContain(receiver.url)

  await press('Send test to On call')
  await card.getByText(/^Test: Delivered \(200\) after/).waitFor()
  expect(receiver.accepted()).toMatchObject([{ type: 'test' }])
  receiver.answer = 500
  await press('Send test to On call')
  await card.getByText(/^Test: Refused \(500\) after .*: no$/).waitFor()
  receiver.answer = 200
  const log = page.getByRole('table', { name: 'Messages of the last 30 days' })
  await expect.poll(() => log.getByRole('row').count()).toBe(3)
  await log.getByText('Failed').click()
  await log.getByText('Refused (500)').waitFor()

  // What is saved stays, also the secrets that nobody sees.
  await press('Edit On call')
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('On duty')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await press('Turn off On duty')
  await press('Turn on On duty')
  await press('Send test to On duty')
  await page.getByText(/^Test: Delivered/).waitFor()

  await page.goto(`${stage.server.url}/settings/monitors`)
  await page.getByLabel('What to watch').selectOption('silence')
  await page.getByLabel('Whom it tells').selectOption('some')
  await page.getByRole('checkbox', { name: 'On duty' }).focus()
  await page.keyboard.press('Space')
  await press('Create monitor')
  await page.getByText('Tells on-call.').waitFor()

  await page.goto(`${stage.server.url}/settings/alerts`)
  await press('Delete On duty')
  await press('Delete')
  await page.getByText('Nobody is told yet.').waitFor()
  // The browser logs the address that was refused.
  expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([])
  await close()
})

test('a destination whose name leads nowhere is saved with a warning', async () => {
  const { page, close } = await stage.open('/settings/alerts')
  await page.getByLabel('Kind').selectOption('slack')
  await page.getByLabel('Webhook URL', { exact: true }).fill('https://hooks.invalid/x')
  await page.keyboard.press('Enter')
  const card = page.getByRole('listitem').filter({ hasText: 'hooks.invalid' })
  await card.getByRole('alert').filter({ hasText: 'The name hooks.invalid has no address' }).waitFor()
  await card.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await card.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByText('Nobody is told yet.').isVisible()).toBe(true)
  await close()
})

test('somebody creates a monitor of each kind and edits one, with the keyboard', async () => {
  const { page, problems, close } = await stage.open('/settings/monitors')
  const submit = async (name: string, fill: () => Promise<unknown>) => {
    await fill()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Edit ${name}`, exact: true }).waitFor()
  }
  const watch = (kind: string) => page.getByLabel('What to watch').selectOption(kind)
  await submit('Dear', async () => {
    await page.getByLabel('Measure').selectOption('cost')
    await page.getByLabel('Limit', { exact: true }).fill('$2.50')
  })
  await submit('Rule', async () => {
    await watch('rule')
    await page.getByLabel('Action', { exact: true }).fill('issue_refund')
    await page.getByLabel('Before', { exact: true }).fill('verify_identity')
  })
  await submit('Quiet', () => watch('silence'))
  await submit('News', () => watch('issue'))

  // In the dialog everything is as it was saved, and Escape changes nothing.
  const edit = async () => {
    await page.getByRole('button', { name: 'Edit Rule', exact: true }).focus()
    await page.keyboard.press('Enter')
    return page.getByRole('dialog', { name: 'Edit “Rule”' })
  }
  let dialog = await edit()
  expect(await dialog.getByLabel('Before', { exact: true }).inputValue()).toBe('verify_identity')
  await dialog.getByLabel('Action', { exact: true }).fill('anything')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.locator('[aria-label="Edit Rule"]:focus').waitFor()

  dialog = await edit()
  await dialog.getByLabel('Action', { exact: true }).fill('close_account')
  await dialog.getByLabel('Filter').fill('tag:vip')
  await dialog.getByLabel('Sessions').fill('')
  expect(await dialog.getByRole('button', { name: 'Save' }).isEnabled()).toBe(false)
  await dialog.getByText('The number of sessions must be at least 1.').waitFor()
  await dialog.getByLabel('Sessions').fill('2')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page
    .getByText('When 2 sessions of tag:vip within 1h break: never close_account before verify_identity.')
    .waitFor()
  const monitors = (await (await stage.server.request('/api/monitors')).json()) as {
    monitors: { monitor: { name: string; condition: { kind: string } } }[]
  }
  const kinds = monitors.monitors.map(({ monitor: { name, condition } }) => `${name}: ${condition.kind}`)
  expect(kinds).toEqual(expect.arrayContaining(['Dear: rate', 'News: issue', 'Quiet: silence', 'Rule: rule']))
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size)
    dialog = await edit()
    expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await takeScreenshot(page, `monitor-edit-${size.width}-${colorScheme}`)
    }
    await page.keyboard.press('Escape')
  }
  expect(problems).toEqual([])
  await close()
})

test('the link of a message opens the session at the failing step', async () => {
  const { services } = stage.server
  receiver.received.length = 0
  await stage.server.request('/api/destinations', {
    json: { kind: 'webhook', name: 'Links', url: receiver.url },
  })
  await stage.server.request('/api/monitors', {
    json: {
      name: 'Refund',
      condition: {
        kind: 'rule',
        rule: { kind: 'never', action: 'issue_refund' },
        windowMs: 60 * MINUTE,
        sessions: 1,
      },
    },
  })
  const traceId = hex(16)
  const now = Date.now()
  await stage.post({ spans: session({ traceId, tool: 'issue_refund', startMs: now - MINUTE }) })
  await services.drain()
  await services.findings.computeAll('default', [traceId])
  for (const atMs of [now, now + 30_000]) {
    await services.monitorLoop.evaluate(atMs)
    await services.alertWorker.tick(atMs)
  }
  const [message] = receiver.accepted() as { data: { alerts: { sessions: { url: string }[] }[] } }[]
  const { page, close } = await stage.open(message!.data.alerts[0]!.sessions[0]!.url)
  await expect.poll(() => page.locator('.step-row.is-selected').textContent()).toContain('issue_refund')
  await close()
})
