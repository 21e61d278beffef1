import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeliveryResponse, DestinationResponse } from '../../src/api/schemas/alerts.ts'
import { AlertStage, HOUR, MINUTE } from './alert-stage.ts'
import { startMailbox } from './mailbox.ts'
import { alertmanagerProblems, pagerDutyProblems, slackProblems } from './published-formats.ts'
import { receiverForThisTest } from './receiver.ts'

let stage: AlertStage
beforeAll(async () => {
  stage = await AlertStage.start()
})
afterAll(() => stage.server.stop())

test("Slack's, PagerDuty's and Alertmanager's messages have the published form, and e-mail arrives", async () => {
  const project = await stage.freshProject()
  const receivers = {
    slack: await receiverForThisTest(),
    pagerduty: await receiverForThisTest(),
    alertmanager: await receiverForThisTest(),
  }
  const mailbox = await startMailbox()
  const t0 = Date.now()
  await stage.saveDestination(project, {
    kind: 'slack',
    name: 'Slack',
    url: receivers.slack.url,
    includesText: true,
  })
  const routingKey = '0123456789abcdef0123456789abcdef'
  await stage.saveDestination(project, {
    kind: 'pagerduty',
    name: 'PD',
    routingKey,
    url: receivers.pagerduty.url,
  })
  const token = 'not-for-everybody'
  await stage.saveDestination(project, {
    kind: 'alertmanager',
    name: 'AM',
    url: receivers.alertmanager.url,
    token,
  })
  await stage.saveDestination(project, {
    kind: 'email',
    name: 'Mail',
    host: '127.0.0.1',
    port: mailbox.port,
    security: 'none',
    user: 'playhead',
    password: mailbox.password,
    from: 'playhead@example.com',
    to: ['on-call@example.com'],
  })
  await stage.watch(project, 'delete_all', { name: 'No <!channel> delete_all' })
  await stage.watch(project, 'drop_table')
  const failed = { startMs: t0 - MINUTE, error: 'the <disk> is full' }
  await stage.send(project, { tool: 'delete_all', ...failed, prompt: 'please delete everything' })
  await stage.send(project, { tool: 'drop_table', ...failed })
  await stage.at(t0)
  await stage.at(t0 + 30_000)
  await stage.at(t0 + 2 * HOUR)
  await stage.at(t0 + 2 * HOUR + 30_000)

  const slack = receivers.slack.accepted()
  expect(slack.map(slackProblems)).toEqual([[], []])
  expect(JSON.stringify(slack)).not.toContain('<!channel>')
  expect(JSON.stringify(slack[0])).toContain('the &lt;disk&gt; is full')
  expect(slack[1]!.text).toBe(`2 monitors were resolved (${project})`)

  const events = receivers.pagerduty.accepted()
  expect(events.map(pagerDutyProblems)).toEqual([[], [], [], []])
  expect(
    events.map(({ event_action, dedup_key }) => `${event_action as string} ${dedup_key as string}`),
  ).toEqual([
    `trigger playhead/${project}/no-channel-delete-all`,
    `trigger playhead/${project}/no-drop-table`,
    `resolve playhead/${project}/no-channel-delete-all`,
    `resolve playhead/${project}/no-drop-table`,
  ])

  const groups = receivers.alertmanager.accepted()
  expect(groups.map(alertmanagerProblems)).toEqual([[], []])
  expect(groups.map(({ status }) => status)).toEqual(['firing', 'resolved'])
  expect(receivers.alertmanager.received[0]!.headers.authorization).toBe(`Bearer ${token}`)

  expect(mailbox.mails.map(({ to, subject }) => [to, subject])).toEqual([
    [['on-call@example.com'], `[Playhead ${project}] 2 monitors fire`],
    [['on-call@example.com'], `[Playhead ${project}] 2 monitors were resolved`],
  ])
  expect(mailbox.mails[0]!.text).toContain('https://playhead.example/sessions/')
  expect(mailbox.mails[0]!.text).not.toContain('the <disk> is full')
})

test('a test message is sent at once, logged, and says what went wrong', async () => {
  const project = await stage.freshProject()
  const receiver = await receiverForThisTest()
  const { destination } = await stage.webhook(project, receiver)
  const test = () =>
    stage.post<DeliveryResponse>(`/api/destinations/${destination.id}/test?project=${project}`, {})
  expect(await test()).toMatchObject({ reason: 'test', state: 'delivered', attempts: [{ status: 200 }] })
  expect(receiver.accepted()).toMatchObject([{ type: 'test', data: { title: 'Test message from Playhead' } }])
  receiver.answer = 404
  expect(await test()).toMatchObject({
    state: 'failed',
    attempts: [{ result: 'refused', status: 404, detail: 'no' }],
  })
  // As an earlier version saved it.
  const { destinations } = stage.server.services
  const saved = destinations.find(project, destination.id)
  const definition = { ...saved.definition, url: 'http://10.1.2.3/hook' } as typeof saved.definition
  await destinations.save({ ...saved, definition })
  expect(await test()).toMatchObject({
    state: 'failed',
    attempts: [{ result: 'unreachable', detail: expect.stringContaining('PLAYHEAD_ALERT_ALLOW') }],
  })
  expect((await stage.deliveries(project)).map(({ state }) => state)).toEqual([
    'failed',
    'failed',
    'delivered',
  ])
  // A test is no news: nothing fires.
  expect(stage.server.services.outbox.told(project, destination.id)).toBeUndefined()
})

test('secrets never come back, and nonsense is refused', async () => {
  const project = await stage.freshProject()
  const secrets = ['/token-in-path', 'routing-key-1', 'bearer-1', 'smtp-password', 'whsec_']
  const given = [
    { kind: 'webhook', name: 'a', url: `https://a.example${secrets[0]}`, secret: `whsec_${'A'.repeat(43)}=` },
    { kind: 'slack', name: 'b', url: `https://b.example${secrets[0]}` },
    { kind: 'pagerduty', name: 'c', routingKey: secrets[1] },
    { kind: 'alertmanager', name: 'd', url: `https://d.example${secrets[0]}`, token: secrets[2] },
    {
      kind: 'email',
      name: 'e',
      host: 'mail.example',
      port: 587,
      security: 'starttls',
      user: 'u',
      password: secrets[3],
      from: 'a@b.example',
      to: ['c@d.example'],
    },
  ]
  let answers = ''
  for (const body of given) {
    const created = await stage.saveDestination(project, body)
    const path = `/api/destinations/${created.id}?project=${project}`
    const changed = await stage.server.request(path, { method: 'PATCH', json: { name: `${created.name}2` } })
    answers += JSON.stringify(created) + (await changed.text())
  }
  const list = (await (await stage.server.request(`/api/destinations?project=${project}`)).json()) as {
    destinations: DestinationResponse[]
  }
  answers += JSON.stringify(list)
  const audit = await stage.server.request(`/api/audit?project=${project}`)
  answers += await audit.text()
  for (const secret of secrets) expect(answers).not.toContain(secret)
  expect(list.destinations.map(({ name, target, secrets: names }) => [name, target, names])).toEqual([
    ['a2', 'https://a.example', ['url', 'secret']],
    ['b2', 'https://b.example', ['url']],
    ['c2', 'https://events.pagerduty.com', ['routingKey']],
    ['d2', 'https://d.example', ['url', 'token']],
    ['e2', 'c@d.example over mail.example:587', ['password']],
  ])
  const statusOf = async (body: object, path = '/api/destinations', method = 'POST') =>
    (await stage.server.request(`${path}?project=${project}`, { method, json: body })).status
  expect({
    scheme: await statusOf({ kind: 'slack', name: 'x', url: 'file:///etc/passwd' }),
    credentials: await statusOf({ kind: 'slack', name: 'x', url: 'http://user:pass@x.example/' }),
    unknownField: await statusOf({ kind: 'slack', name: 'x', url: 'https://x.example', tokn: 'y' }),
    newline: await statusOf({ kind: 'slack', name: 'x\r\nBcc: y', url: 'https://x.example' }),
    taken: await statusOf({ kind: 'slack', id: 'a', name: 'x', url: 'https://x.example' }),
    wrongField: await statusOf({ routingKey: 'x' }, '/api/destinations/b', 'PATCH'),
    missing: await statusOf({ name: 'x' }, '/api/destinations/nobody', 'PATCH'),
  }).toEqual({
    scheme: 400,
    credentials: 400,
    unknownField: 400,
    newline: 400,
    taken: 409,
    wrongField: 400,
    missing: 404,
  })
})

const mailTo = (host: string) => ({
  kind: 'email',
  name: 'm',
  host,
  port: 587,
  security: 'starttls',
  from: 'a@b.example',
  to: ['c@d.example'],
})

test('an address that the server will not connect to is refused when it is saved, in every form', async () => {
  const project = await stage.freshProject()
  const refused = `0.0.0.0 127.0.0.2 2130706434 0x7f.2 0177.0.0.02 127.2 127.0.0.2.
    [::] [::1] [::ffff:127.0.0.2] [::127.0.0.2] [64:ff9b::7f00:2] [2002:7f00:2::]
    10.1.2.3 192.168.1.1 [fd00:ec2::254] 169.254.169.254 0xa9fea9fe 168.63.129.16`
  for (const host of refused.split(/\s+/))
    for (const body of [
      { kind: 'webhook', name: 'w', url: `http://${host}/hook` },
      { kind: 'slack', name: 's', url: `https://${host}:8443/hook` },
      { kind: 'pagerduty', name: 'p', routingKey: 'k', url: `https://${host}/` },
      { kind: 'alertmanager', name: 'a', url: `http://${host}:9093/` },
      mailTo(host),
    ]) {
      const response = await stage.server.request(`/api/destinations?project=${project}`, { json: body })
      expect({ host, kind: body.kind, status: response.status, body: await response.json() }).toEqual({
        host,
        kind: body.kind,
        status: 400,
        body: {
          error: {
            code: 'ADDRESS_NOT_ALLOWED',
            message: expect.stringMatching(
              / is not a public address\. If the server may connect to it, add it to PLAYHEAD_ALERT_ALLOW and restart the server\.$/,
            ),
          },
        },
      })
    }
  const list = await stage.server.request(`/api/destinations?project=${project}`)
  expect(await list.json()).toEqual({ destinations: [] })
})

test('a change of the address is judged too; one saved earlier can be renamed and turned off, but not on', async () => {
  const project = await stage.freshProject()
  const { id } = await stage.saveDestination(project, mailTo('127.0.0.1'))
  const change = async (json: object) => {
    const path = `/api/destinations/${id}?project=${project}`
    const response = await stage.server.request(path, { method: 'PATCH', json })
    const body = (await response.json()) as DestinationResponse & { error?: { code: string } }
    return { status: response.status, code: body.error?.code, problem: body.problem }
  }
  const code = 'ADDRESS_NOT_ALLOWED'
  expect(await change({ host: '10.0.0.1' })).toMatchObject({ status: 400, code })
  const { destinations } = stage.server.services
  const saved = destinations.find(project, id)
  const definition = { ...saved.definition, host: '10.0.0.1' } as typeof saved.definition
  await destinations.save({ ...saved, definition })
  const problem = expect.stringContaining('10.0.0.1 is not a public address')
  expect(await change({ name: 'renamed' })).toMatchObject({ status: 200, problem })
  expect(await change({ isEnabled: false })).toMatchObject({ status: 200, problem })
  expect(await change({ isEnabled: true })).toMatchObject({ status: 400, code })
  expect(await change({ isEnabled: true, host: '127.0.0.1' })).toMatchObject({
    status: 200,
    problem: undefined,
  })
})

test('a name that leads nowhere is saved, with a warning', async () => {
  const project = await stage.freshProject()
  const saved = await stage.saveDestination(project, mailTo('mail.invalid'))
  expect(saved).toMatchObject({
    settings: { host: 'mail.invalid' },
    warning: expect.stringContaining('The name mail.invalid has no address'),
  })
})
