import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeliveryResponse, DestinationResponse } from '../../src/api/schemas/alerts.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import { startMailbox } from './mailbox.ts'
import { alertmanagerProblems, pagerDutyProblems, slackProblems } from './published-formats.ts'
import { receiverForThisTest, type Receiver } from './receiver.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({
    PLAYHEAD_ALERT_ALLOW: '127.0.0.1',
    PLAYHEAD_URL: 'https://playhead.example',
  })
  // Time is given to them.
  await server.services.monitorLoop.stop()
  await server.services.alertWorker.stop()
})
afterAll(() => server.stop())

let projects = 0
async function freshProject(): Promise<string> {
  const id = `a${(projects += 1)}`
  await server.services.registry.createProject({ id, name: id })
  return id
}

async function post<Answer>(path: string, json: object): Promise<Answer> {
  const response = await server.request(path, { json })
  const text = await response.text()
  expect({ path, status: response.status, text }).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
  return JSON.parse(text) as Answer
}

const saveDestination = (project: string, body: object) =>
  post<DestinationResponse & { secret?: string }>(`/api/destinations?project=${project}`, body)

async function deliveries(project: string): Promise<DeliveryResponse[]> {
  const response = await server.request(`/api/deliveries?project=${project}`)
  return ((await response.json()) as { deliveries: DeliveryResponse[] }).deliveries
}

/** A monitor that fires on sessions that call `action`; the window decides when it is resolved. */
const watch = (project: string, action: string, more: object = {}) =>
  post(`/api/monitors?project=${project}`, {
    name: `No ${action}`,
    condition: { kind: 'rule', rule: { kind: 'never', action }, windowMs: HOUR, sessions: 1 },
    ...more,
  })

async function send(project: string, options: Parameters<typeof session>[0]): Promise<string> {
  const traceId = hex(16)
  await server.request('/v1/traces', {
    json: tracesPayload(session({ traceId, ...options })),
    headers: { 'x-playhead-project': project },
  })
  await server.services.drain()
  await server.services.findings.computeAll(project, [traceId])
  return traceId
}

/** Evaluates the monitors and lets the worker work, as of a time. */
async function at(nowMs: number): Promise<void> {
  await server.services.monitorLoop.evaluate(nowMs)
  await server.services.alertWorker.tick(nowMs)
}

async function webhook(project: string, receiver: Receiver, more: object = {}) {
  const { secret, ...destination } = await saveDestination(project, {
    kind: 'webhook',
    name: 'Hook',
    url: receiver.url,
    ...more,
  })
  return { destination, verifier: new Webhook(secret!) }
}

type Body = { type: string; data: { title: string; isRepeat: boolean; alerts: Record<string, unknown>[] } }
const titles = (receiver: Receiver) => (receiver.accepted() as Body[]).map(({ data }) => data.title)

test('what fires within 30 seconds is one signed message, repeated after four hours, and what is resolved is said', async () => {
  const project = await freshProject()
  const receiver = await receiverForThisTest()
  const { verifier } = await webhook(project, receiver)
  const t0 = Date.now()
  await watch(project, 'delete_all')
  await watch(project, 'drop_table', {
    condition: {
      kind: 'rule',
      rule: { kind: 'never', action: 'drop_table' },
      windowMs: 12 * HOUR,
      sessions: 1,
    },
  })
  const first = await send(project, { tool: 'delete_all', startMs: t0 - MINUTE, error: 'secret prompt text' })
  await at(t0)
  const second = await send(project, { tool: 'drop_table', startMs: t0 - MINUTE })
  await at(t0 + 15_000)
  expect(receiver.received).toEqual([])
  await at(t0 + 30_000)
  expect(titles(receiver)).toEqual(['2 monitors fire'])
  const [{ body, headers }] = receiver.received as [Receiver['received'][number]]
  verifier.verify(body, headers as Record<string, string>)
  expect(() => verifier.verify(`${body} `, headers as Record<string, string>)).toThrow()
  // Three links at most, at the failing step, and nothing that anybody wrote.
  const { steps } = await server.session(first, `project=${project}`)
  const failing = steps.find(({ kind }) => kind === 'action')!
  expect(JSON.parse(body)).toMatchObject({
    type: 'monitors.firing',
    data: {
      project,
      isRepeat: false,
      alerts: [
        {
          monitorId: 'no-delete-all',
          status: 'firing',
          sentence: 'a session within 1h breaks: never delete_all',
          value: '1 session',
          firedAt: new Date(t0).toISOString(),
          resolvedAt: null,
          sessions: [
            {
              name: 'support',
              url: `https://playhead.example/sessions/${first}?project=${project}&step=${failing.id}`,
              suspect: { step: 'delete_all', finding: 'error' },
            },
          ],
          url: `https://playhead.example/settings/monitors?project=${project}`,
        },
        { monitorId: 'no-drop-table', sessions: [{ url: expect.stringContaining(second) }] },
      ],
    },
  })
  expect(body).not.toContain('secret prompt text')
  expect(body).not.toContain('hello')

  // The first is resolved as its window passes; the other goes on.
  await at(t0 + 2 * HOUR)
  await at(t0 + 2 * HOUR + 30_000)
  expect(titles(receiver).slice(1)).toEqual(['1 monitor fires, 1 was resolved'])
  await at(t0 + 6 * HOUR)
  expect(titles(receiver)).toHaveLength(2)
  await at(t0 + 6 * HOUR + 31_000)
  await at(t0 + 6 * HOUR + 40_000)
  expect((receiver.accepted() as Body[])[2]).toMatchObject({
    data: { title: 'Firing: No drop_table', isRepeat: true },
  })
  await at(t0 + 13 * HOUR)
  await at(t0 + 13 * HOUR + 30_000)
  expect((receiver.accepted() as Body[]).at(-1)).toMatchObject({
    type: 'monitors.resolved',
    data: { title: 'Resolved: No drop_table', alerts: [{ status: 'resolved' }] },
  })
  const count = receiver.received.length
  await at(t0 + 23 * HOUR)
  expect(receiver.received).toHaveLength(count)
  const log = (await deliveries(project)).toReversed()
  expect(log.map(({ reason, state, isMaybeTwice }) => `${reason} ${state} ${isMaybeTwice}`)).toEqual([
    'change delivered false',
    'change delivered false',
    'repeat delivered false',
    'change delivered false',
  ])
})

test('a receiver that is dead for an hour gets the message once, then what changed meanwhile', async () => {
  const project = await freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = 503
  const { verifier } = await webhook(project, receiver)
  const t0 = Date.now()
  await watch(project, 'delete_all')
  await send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  const { alertWorker } = server.services
  await at(t0)
  for (let minute = 1; minute <= 60; minute += 1) await alertWorker.tick(t0 + minute * MINUTE)
  const attempts = receiver.received.length
  expect(attempts).toBeGreaterThan(4)
  expect(attempts).toBeLessThan(10)
  expect(receiver.accepted()).toEqual([])
  receiver.answer = 200
  await at(t0 + 61 * MINUTE)
  for (let minute = 62; minute <= 150; minute += 1) await alertWorker.tick(t0 + minute * MINUTE)
  expect(titles(receiver)).toEqual(['Firing: No delete_all', 'Resolved: No delete_all'])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids.slice(0, attempts + 1)).size).toBe(1)
  expect(new Set(ids).size).toBe(2)
  for (const { body, headers } of receiver.received) verifier.verify(body, headers as Record<string, string>)
  const [resolved, fired] = await deliveries(project)
  expect(resolved).toMatchObject({ state: 'delivered', attempts: [{ result: 'delivered', status: 200 }] })
  expect(fired).toMatchObject({ state: 'delivered', isMaybeTwice: false })
  expect(fired!.attempts.map(({ result, status }) => `${result} ${status}`)).toEqual([
    ...Array.from({ length: attempts }, () => 'refused 503'),
    'delivered 200',
  ])
})

test('after a day of attempts a message is given up, and one without an answer says that it may arrive twice', async () => {
  const project = await freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = (response) => response.destroy()
  await webhook(project, receiver)
  const t0 = Date.now()
  await watch(project, 'delete_all', {
    condition: {
      kind: 'rule',
      rule: { kind: 'never', action: 'delete_all' },
      windowMs: 48 * HOUR,
      sessions: 1,
    },
  })
  await send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  await at(t0)
  await at(t0 + MINUTE)
  receiver.answer = 200
  await at(t0 + 2 * MINUTE)
  expect((await deliveries(project))[0]).toMatchObject({
    state: 'delivered',
    isMaybeTwice: true,
    attempts: [{ result: 'unanswered' }, { result: 'delivered' }],
  })
  // Four hours later it is repeated, to a receiver that is gone for longer than a day.
  receiver.answer = 500
  const { alertWorker } = server.services
  for (let minute = 0; minute <= 28 * 60; minute += 20)
    await alertWorker.tick(t0 + 5 * HOUR + minute * MINUTE)
  const log = await deliveries(project)
  const given = log.find(({ state }) => state === 'failed')!
  expect(given.attempts).toHaveLength(11)
  const tookMs = Date.parse(given.attempts.at(-1)!.at) - Date.parse(given.attempts[0]!.at)
  expect(tookMs / HOUR).toBeGreaterThan(23)
  expect(tookMs / HOUR).toBeLessThan(27)
})

test('410 turns the destination off, a change turns it on again, and deleting it cancels what waits', async () => {
  const project = await freshProject()
  const receiver = await receiverForThisTest()
  receiver.answer = 410
  const { destination } = await webhook(project, receiver)
  const t0 = Date.now()
  await watch(project, 'delete_all', {
    condition: {
      kind: 'rule',
      rule: { kind: 'never', action: 'delete_all' },
      windowMs: 48 * HOUR,
      sessions: 1,
    },
  })
  await send(project, { tool: 'delete_all', startMs: t0 - MINUTE })
  await at(t0)
  await at(t0 + MINUTE)
  for (let hour = 1; hour < 12; hour += 1) await server.services.alertWorker.tick(t0 + hour * HOUR)
  expect(receiver.received).toHaveLength(1)
  const listed = async () => {
    const response = await server.request(`/api/destinations?project=${project}`)
    return ((await response.json()) as { destinations: DestinationResponse[] }).destinations
  }
  expect(await listed()).toMatchObject([
    { id: destination.id, isEnabled: false, problem: expect.stringContaining('410') },
  ])
  expect((await deliveries(project)).map(({ state }) => state)).toEqual(['failed'])

  receiver.answer = 503
  const path = `/api/destinations/${destination.id}?project=${project}`
  await server.request(path, { method: 'PATCH', json: { isEnabled: true } })
  expect((await listed())[0]).not.toHaveProperty('problem')
  await at(t0 + 12 * HOUR)
  expect((await deliveries(project))[0]).toMatchObject({ reason: 'repeat', state: 'waiting' })
  await server.request(path, { method: 'DELETE' })
  await at(t0 + 13 * HOUR)
  expect((await deliveries(project))[0]).toMatchObject({ reason: 'repeat', state: 'canceled' })
  expect(receiver.received).toHaveLength(2)
})

test('a paused or deleted monitor is not called good, and a monitor tells only its destinations', async () => {
  const project = await freshProject()
  const [chosen, other] = [await receiverForThisTest(), await receiverForThisTest()]
  await webhook(project, chosen, { id: 'chosen' })
  await webhook(project, other, { id: 'other' })
  const t0 = Date.now()
  for (const action of ['delete_all', 'drop_table', 'wipe'])
    await watch(project, action, { destinations: ['chosen'] })
  for (const tool of ['delete_all', 'drop_table', 'wipe']) await send(project, { tool, startMs: t0 - MINUTE })
  await at(t0)
  await at(t0 + 30_000)
  expect(titles(chosen)).toEqual(['3 monitors fire'])
  const change = (id: string, options: object) =>
    server.request(`/api/monitors/${id}?project=${project}`, options)
  await change('no-delete-all', { method: 'PATCH', json: { isPaused: true } })
  await change('no-drop-table', { method: 'DELETE' })
  await change('no-wipe', { method: 'PATCH', json: { destinations: ['other'] } })
  await at(t0 + MINUTE)
  await at(t0 + 2 * MINUTE)
  expect((chosen.accepted() as Body[])[1]!.data.alerts.map(({ status, note }) => [status, note])).toEqual([
    ['resolved', 'paused'],
    ['resolved', 'deleted'],
    ['resolved', 'redirected'],
  ])
  expect(titles(other)).toEqual(['Firing: No wipe'])
})

test("Slack's, PagerDuty's and Alertmanager's messages have the published form, and e-mail arrives", async () => {
  const project = await freshProject()
  const receivers = {
    slack: await receiverForThisTest(),
    pagerduty: await receiverForThisTest(),
    alertmanager: await receiverForThisTest(),
  }
  const mailbox = await startMailbox()
  const t0 = Date.now()
  await saveDestination(project, {
    kind: 'slack',
    name: 'Slack',
    url: receivers.slack.url,
    includesText: true,
  })
  const routingKey = '0123456789abcdef0123456789abcdef'
  await saveDestination(project, { kind: 'pagerduty', name: 'PD', routingKey, url: receivers.pagerduty.url })
  const token = 'not-for-everybody'
  await saveDestination(project, { kind: 'alertmanager', name: 'AM', url: receivers.alertmanager.url, token })
  await saveDestination(project, {
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
  await watch(project, 'delete_all', { name: 'No <!channel> delete_all' })
  await watch(project, 'drop_table')
  const failed = { startMs: t0 - MINUTE, error: 'the <disk> is full' }
  await send(project, { tool: 'delete_all', ...failed, prompt: 'please delete everything' })
  await send(project, { tool: 'drop_table', ...failed })
  await at(t0)
  await at(t0 + 30_000)
  await at(t0 + 2 * HOUR)
  await at(t0 + 2 * HOUR + 30_000)

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
  const project = await freshProject()
  const receiver = await receiverForThisTest()
  const { destination } = await webhook(project, receiver)
  const test = () => post<DeliveryResponse>(`/api/destinations/${destination.id}/test?project=${project}`, {})
  expect(await test()).toMatchObject({ reason: 'test', state: 'delivered', attempts: [{ status: 200 }] })
  expect(receiver.accepted()).toMatchObject([{ type: 'test', data: { title: 'Test message from Playhead' } }])
  receiver.answer = 404
  expect(await test()).toMatchObject({
    state: 'failed',
    attempts: [{ result: 'refused', status: 404, detail: 'no' }],
  })
  const url = 'http://10.1.2.3/hook'
  await server.request(`/api/destinations/${destination.id}?project=${project}`, {
    method: 'PATCH',
    json: { url },
  })
  expect(await test()).toMatchObject({
    state: 'failed',
    attempts: [{ result: 'unreachable', detail: expect.stringContaining('PLAYHEAD_ALERT_ALLOW') }],
  })
  expect((await deliveries(project)).map(({ state }) => state)).toEqual(['failed', 'failed', 'delivered'])
  // A test is no news: nothing fires.
  expect(server.services.outbox.told(project, destination.id)).toBeUndefined()
})

test('secrets never come back, and nonsense is refused', async () => {
  const project = await freshProject()
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
    const created = await saveDestination(project, body)
    const path = `/api/destinations/${created.id}?project=${project}`
    const changed = await server.request(path, { method: 'PATCH', json: { name: `${created.name}2` } })
    answers += JSON.stringify(created) + (await changed.text())
  }
  const list = (await (await server.request(`/api/destinations?project=${project}`)).json()) as {
    destinations: DestinationResponse[]
  }
  answers += JSON.stringify(list)
  const audit = await server.request(`/api/audit?project=${project}`)
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
    (await server.request(`${path}?project=${project}`, { method, json: body })).status
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
