import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyRetention } from '../src/maintenance/retention.ts'
import { startClusterOverHttp, type EngineOverHttp } from './engine-over-http.ts'
import { openEvents } from './event-stream.ts'
import { hex, tracesPayload } from './otlp.ts'
import { seededRandom } from './seeded-random.ts'
import { SpawnedServer } from './spawned-server.ts'
import { expectEverythingStored } from './stored-traffic.ts'
import { startTestServer, type TestServer } from './test-server.ts'
import { Traffic } from './traffic.ts'

let engine: EngineOverHttp
let environment: Record<string, string>
let [first, second]: TestServer[] = []

beforeAll(async () => {
  engine = await startClusterOverHttp()
  environment = { CLICKHOUSE_URL: engine.url, CLICKHOUSE_CLUSTER: 'two' }
  first = await startTestServer(environment)
  second = await startTestServer(environment)
})
afterAll(async () => {
  await second?.stop()
  await first?.stop()
  await engine.stop()
})

test('each server knows of the other', async () => {
  const known = () => [first, second].map((server) => server!.services.nodes.hasOthers())
  await expect.poll(known).toEqual([true, true])
})

/** Servers tell each other about keys and projects within this time. */
const AGREED_MS = 5_000

test('a project and its key that one server creates work at the other within five seconds, and so does revoking it', async () => {
  const json = { id: 'shared', name: 'Shared' }
  await first!.request('/api/projects', { json })
  const read = async () => (await second!.request('/api/sessions?project=shared')).status
  await expect.poll(read, { timeout: AGREED_MS }).toBe(200)

  const created = await first!.request('/api/keys?project=shared', { json: { name: 'ci', scopes: ['read'] } })
  const { secret, key } = (await created.json()) as { secret: string; key: { id: string } }
  const find = () => second!.services.registry.findKey(secret)
  await expect.poll(() => find()?.project, { timeout: AGREED_MS }).toBe('shared')
  await second!.request(`/api/keys/${key.id}?project=shared`, { method: 'DELETE' })
  await expect
    .poll(() => first!.services.registry.findKey(secret)?.revokedAt, { timeout: AGREED_MS })
    .not.toBeNull()
})

test('a share link of one server opens at the other within five seconds, is counted for both, and so is revoked', async () => {
  const traceId = hex(16)
  const startMs = Date.now() - 1_000
  await first!.postTraces(tracesPayload([{ traceId, spanId: hex(8), startMs, endMs: startMs + 900 }]))
  const created = await first!.request(`/api/sessions/${traceId}/shares`, { json: {} })
  const { url, share } = (await created.json()) as { url: string; share: { id: string } }
  const headers = { authorization: `Bearer ${new URL(url).hash.slice(1)}` }
  const open = async (server: TestServer) => {
    const response = await server.request('/api/shared/session', { headers })
    await response.text()
    return response.status
  }
  await expect.poll(() => open(second!), { timeout: AGREED_MS }).toBe(200)
  expect(await open(first!)).toBe(200)
  const opensAt = (server: TestServer) => server.services.gate.shares.list('default')[0]?.opens
  await expect.poll(() => [opensAt(first!), opensAt(second!)], { timeout: 3 * AGREED_MS }).toEqual([2, 2])

  await first!.request(`/api/shares/${share.id}`, { method: 'DELETE' })

  expect(await open(first!)).toBe(410)
  await expect.poll(() => open(second!), { timeout: AGREED_MS }).toBe(410)
})

/** One model call as a session of its own. */
function report(instrumentation: string, responseId: string, tokens: Record<string, number>) {
  const traceId = hex(16)
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.id': responseId,
    ...tokens,
  }
  const startMs = Date.now() - 1_000
  const span = { traceId, spanId: hex(8), startMs, endMs: startMs + 900, attributes }
  return { traceId, payload: tracesPayload([span], {}, instrumentation) }
}

test('a call that is reported to both servers counts once, whichever of them is asked', async () => {
  const some = report('wrapper', 'r1', { 'gen_ai.usage.input_tokens': 100 })
  const most = report('wire', 'r1', { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 })
  await first!.postTraces(some.payload)
  await first!.sessions()
  await second!.postTraces(most.payload)
  await second!.sessions()

  for (const server of [first!, second!]) {
    const usageOf = async (id: string) =>
      (await server.sessions()).find((session) => session.id === id)?.usage
    await expect.poll(() => usageOf(some.traceId)).toEqual({})
    expect(await usageOf(most.traceId)).toMatchObject({ input: 100, output: 20 })
  }
})

test('a viewer at one server sees what the other one receives', async () => {
  const traceId = hex(16)
  const startMs = Date.now()
  const root = { traceId, spanId: hex(8), name: 'agent', startMs }
  await first!.postTraces(tracesPayload([root]))
  await first!.sessions()
  const list = await openEvents(`${second!.url}/api/live?only=session`)
  const one = await openEvents(`${second!.url}/api/sessions/${traceId}/live`)

  const tool = {
    traceId,
    spanId: hex(8),
    parentSpanId: root.spanId,
    name: 'look up',
    startMs,
    endMs: startMs + 5,
  }
  await first!.postTraces(tracesPayload([tool, { ...root, endMs: startMs + 9 }]))

  await expect
    .poll(() => one.events.map(({ data }) => (data.step as { name?: string } | undefined)?.name))
    .toContain('look up')
  await expect
    .poll(() => list.events.map(({ data }) => (data.session as { stepCount?: number }).stepCount))
    .toContain(2)
  list.close()
  one.close()
  expect((await second!.session(traceId)).steps).toHaveLength(2)
})

test('expired sessions are deleted by one of the servers; when it stops, the other one takes over', async () => {
  const old = Date.now() - 3 * 86_400_000
  await first!.postTraces(tracesPayload([{ name: 'old', startMs: old, endMs: old + 1 }]))
  expect((await first!.sessions()).map(({ name }) => name)).toContain('old')
  await first!.request('/api/projects/default', { method: 'PATCH', json: { retentionDays: 1 } })
  await expect
    .poll(() => second!.services.registry.project('default')?.retentionDays, { timeout: AGREED_MS })
    .toBe(1)

  for (const server of [second!, first!]) await applyRetention(server.services, Date.now())

  const audit = (await (await second!.request('/api/audit?action=sessions')).json()) as { entries: object[] }
  expect(audit.entries).toHaveLength(1)
  expect((await second!.sessions()).map(({ name }) => name)).not.toContain('old')
  const { nodes } = second!.services
  expect([first!.services.nodes.isLeader(), nodes.isLeader()]).toEqual([true, false])
  await first!.stop()
  await expect.poll(() => nodes.isLeader(), { timeout: AGREED_MS }).toBe(true)
  first = undefined
})

/** `CRASH_KILLS=20` tries longer. */
const KILLS = Number(process.env.CRASH_KILLS ?? 2)

test(
  `after ${KILLS} × kill -9 of either server under load, every acknowledged span is stored once, and sessions that both received are whole`,
  async () => {
    const random = seededRandom(7)
    const cluster = await startClusterOverHttp()
    const shared = { CLICKHOUSE_URL: cluster.url, CLICKHOUSE_CLUSTER: 'two' }
    const servers = [await SpawnedServer.create(shared), await SpawnedServer.create(shared)]
    try {
      for (const server of servers) await server.start()
      const url = servers.map((server) => server.url)
      // More than are sent between two kills: on a busy machine a start takes half a minute, and traffic must not run out.
      const maxSessions = 200 * KILLS
      const traffic = new Traffic({ url, random, connections: 4, maxSessions, maxPauseMs: 20 })
      traffic.start()
      for (let kill = 0; kill < KILLS; kill++) {
        const before = traffic.acknowledgedRequests
        await expect
          .poll(() => traffic.acknowledgedRequests - before, { timeout: 60_000, interval: 5 })
          .toBeGreaterThan(20)
        await pause(random() * 300)
        const server = servers[kill % 2]!
        await server.end('SIGKILL')
        await server.start()
      }
      await traffic.finish()
      for (const server of servers)
        await expect.poll(() => server.filesInFlight(), { timeout: 120_000 }).toEqual([])

      for (const server of servers) await expectEverythingStored(server, traffic)
    } finally {
      for (const server of servers) await server.remove()
      await cluster.stop()
    }
  },
  150_000 * KILLS,
)
