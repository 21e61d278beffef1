import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { DeliveryResponse } from '../../src/api/schemas/alerts.ts'
import { startEngineOverHttp } from '../engine-over-http.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import { receiverForThisTest } from './receiver.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const json = { 'content-type': 'application/json' }

const monitor = (action: string) => ({
  name: action,
  condition: { kind: 'rule', rule: { kind: 'never', action }, windowMs: 6 * HOUR, sessions: 1 },
})

/** A server that is killed and started again with the same data. */
class KilledServer {
  readonly #data: string
  #child: ChildProcess | undefined
  #url = ''

  constructor(data: string) {
    this.#data = data
  }

  async start(): Promise<void> {
    const child = fork(new URL('alert-server-main.ts', import.meta.url), {
      execArgv: ['--conditions=playhead-source'],
      env: { ...process.env, PLAYHEAD_DATA: this.#data },
    })
    this.#child = child
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    this.#url = url
  }

  async kill(): Promise<void> {
    const child = this.#child!
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  /** Lets time pass; without `isAwaited` only begins to. */
  async tell(message: { nowMs: number } | { diagnose: string }, isAwaited = true): Promise<void> {
    const answered = isAwaited ? once(this.#child!, 'message') : undefined
    this.#child!.send(message)
    await answered
  }

  async post(path: string, body: object): Promise<void> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  }

  async deliveries(): Promise<DeliveryResponse[]> {
    const response = await fetch(`${this.#url}/api/deliveries`)
    return ((await response.json()) as { deliveries: DeliveryResponse[] }).deliveries
  }
}

test('a server that is killed between attempts sends each message once, or says that it may be twice', async () => {
  const data = await mkdtemp(join(tmpdir(), 'playhead-alerts-'))
  onTestFinished(() => rm(data, { recursive: true, force: true }))
  const receiver = await receiverForThisTest()
  const server = new KilledServer(data)
  await server.start()
  onTestFinished(() => server.kill())
  const t0 = Date.now()
  const fire = async (action: string) => {
    const traceId = hex(16)
    await server.post('/v1/traces', tracesPayload(session({ traceId, tool: action, startMs: t0 - MINUTE })))
    await server.post('/api/monitors', monitor(action))
    await server.tell({ diagnose: traceId })
  }
  await server.post('/api/destinations', { kind: 'webhook', name: 'Hook', url: receiver.url })
  await fire('delete_all')
  receiver.answer = 503
  await server.tell({ nowMs: t0 })
  await server.tell({ nowMs: t0 + 30_000 })
  expect(receiver.received).toHaveLength(1)

  // Between two attempts: exactly once.
  await server.kill()
  await server.start()
  receiver.answer = 200
  await server.tell({ nowMs: t0 + MINUTE })
  expect(receiver.accepted()).toHaveLength(1)
  expect(await server.deliveries()).toMatchObject([
    { state: 'delivered', isMaybeTwice: false, attempts: [{ status: 503 }, { status: 200 }] },
  ])

  // After the last one: nothing more.
  await server.kill()
  await server.start()
  await server.tell({ nowMs: t0 + 2 * MINUTE })
  await server.tell({ nowMs: t0 + 3 * MINUTE })
  expect(receiver.received).toHaveLength(2)

  // During an attempt that the receiver never answers: again, and the log says so.
  await fire('drop_table')
  receiver.answer = 'none'
  await server.tell({ nowMs: t0 + 4 * MINUTE })
  await server.tell({ nowMs: t0 + 5 * MINUTE }, false)
  await expect.poll(() => receiver.received.length).toBe(3)
  await server.kill()
  await server.start()
  receiver.answer = 200
  await server.tell({ nowMs: t0 + 6 * MINUTE })
  expect(receiver.accepted()).toHaveLength(2)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids[3]).toBe(ids[2])
  expect((await server.deliveries())[0]).toMatchObject({
    state: 'delivered',
    isMaybeTwice: true,
    attempts: [
      { result: 'unanswered', detail: 'The server ended during this attempt.' },
      { result: 'delivered', status: 200 },
    ],
  })
})

test('of two servers one notifies, the other takes over, and a store that fails resolves nothing', async () => {
  const engine = await startEngineOverHttp()
  onTestFinished(() => engine.stop())
  const environment = { CLICKHOUSE_URL: engine.url, PLAYHEAD_ALERT_ALLOW: '127.0.0.1' }
  const first = await startTestServer(environment)
  let isFirstStopped = false
  onTestFinished(() => (isFirstStopped ? undefined : first.stop()))
  const second = await startTestServer(environment)
  onTestFinished(() => second.stop())
  for (const { services } of [first, second]) {
    await services.monitorLoop.stop()
    await services.alertWorker.stop()
  }
  const receiver = await receiverForThisTest()
  const t0 = Date.now()
  const both = async (nowMs: number) => {
    for (const { services } of [first, second]) await services.monitorLoop.evaluate(nowMs)
    await Promise.all([first, second].map(({ services }) => services.alertWorker.tick(nowMs)))
  }
  // Saved on the server that does not lead.
  await second.request('/api/destinations', { json: { kind: 'webhook', name: 'Hook', url: receiver.url } })
  const traceId = hex(16)
  await first.postTraces(tracesPayload(session({ traceId, tool: 'delete_all', startMs: t0 - MINUTE })))
  await first.request('/api/monitors', { json: monitor('delete_all') })
  await first.services.drain()
  await first.services.findings.computeAll('default', [traceId])
  for (const seconds of [0, 30, 31, 60]) await both(t0 + seconds * 1_000)
  expect(receiver.received).toHaveLength(1)

  // For an hour the store does not answer: whatever fires goes on firing.
  const { client } = first.services.store
  const { query, insert } = client
  const fail = () => Promise.reject(new Error('connect ECONNREFUSED'))
  Object.assign(client, { query: fail, insert: fail })
  for (let minute = 2; minute <= 62; minute += 10) {
    await first.services.monitorLoop.evaluate(t0 + minute * MINUTE)
    await first.services.alertWorker.tick(t0 + minute * MINUTE)
  }
  expect(first.services.monitors.find('default', 'delete-all').status.state).toBe('error')
  Object.assign(client, { query, insert })
  await both(t0 + 65 * MINUTE)
  await both(t0 + 66 * MINUTE)
  expect(receiver.received).toHaveLength(1)

  // The leader goes. The other one repeats nothing, and says when it is over.
  isFirstStopped = true
  await first.stop()
  await expect.poll(() => second.services.nodes.isLeader(), { timeout: 20_000 }).toBe(true)
  const alone = async (nowMs: number) => {
    await second.services.monitorLoop.evaluate(nowMs)
    await second.services.alertWorker.tick(nowMs)
  }
  await alone(t0 + 70 * MINUTE)
  await alone(t0 + 71 * MINUTE)
  expect(receiver.received).toHaveLength(1)
  await alone(t0 + 7 * HOUR)
  await alone(t0 + 7 * HOUR + MINUTE)
  const types = receiver.accepted().map(({ type }) => type)
  expect(types).toEqual(['monitors.firing', 'monitors.resolved'])
})

test('two servers that both believe to lead send each message once', async () => {
  const engine = await startEngineOverHttp()
  onTestFinished(() => engine.stop())
  const environment = { CLICKHOUSE_URL: engine.url, PLAYHEAD_ALERT_ALLOW: '127.0.0.1' }
  const servers = [await startTestServer(environment), await startTestServer(environment)]
  onTestFinished(async () => {
    for (const server of servers) await server.stop()
  })
  const [first, second] = servers as [TestServer, TestServer]
  for (const { services } of servers) {
    await services.monitorLoop.stop()
    await services.alertWorker.stop()
    Object.assign(services.nodes, { isLeader: () => true })
  }
  // Each has to know that the other one lives.
  await expect
    .poll(() => servers.every(({ services }) => services.nodes.hasOthers()), { timeout: 20_000 })
    .toBe(true)
  const receiver = await receiverForThisTest()
  await first.request('/api/destinations', { json: { kind: 'webhook', name: 'Hook', url: receiver.url } })
  const t0 = Date.now()
  const fire = async (action: string, nowMs: number) => {
    const traceId = hex(16)
    await first.postTraces(tracesPayload(session({ traceId, tool: action, startMs: t0 - MINUTE })))
    await first.request('/api/monitors', { json: monitor(action) })
    await first.services.drain()
    await first.services.findings.computeAll('default', [traceId])
    await first.services.monitorLoop.evaluate(nowMs)
    await second.services.monitors.reload()
  }
  const tick = (nowMs: number) =>
    Promise.all(servers.map(({ services }, index) => services.alertWorker.tick(nowMs + index)))
  const log = async () => {
    const response = await second.request('/api/deliveries')
    return ((await response.json()) as { deliveries: DeliveryResponse[] }).deliveries
  }

  await fire('delete_all', t0)
  for (const seconds of [0, 31, 32, 38, 44, 50]) await tick(t0 + seconds * 1_000)
  expect(receiver.received).toHaveLength(1)
  expect(await log()).toMatchObject([
    { state: 'delivered', isMaybeTwice: false, attempts: [{ status: 200 }] },
  ])

  // Retries, too: both see that an attempt failed, and one of them makes the next.
  receiver.answer = 503
  await fire('drop_table', t0 + MINUTE)
  for (const seconds of [60, 91, 92]) await tick(t0 + seconds * 1_000)
  receiver.answer = 200
  for (const seconds of [98, 104, 110, 140]) await tick(t0 + seconds * 1_000)
  expect(receiver.accepted()).toHaveLength(2)
  const [latest] = await log()
  expect(latest).toMatchObject({ state: 'delivered', isMaybeTwice: false })
  expect(latest!.attempts.map(({ status }) => status)).toEqual([503, 200])
  expect(receiver.received).toHaveLength(3)
})
