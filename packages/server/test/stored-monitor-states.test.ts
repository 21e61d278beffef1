import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newDataDirectory } from './empty-store.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const never = (action: string, windowMs: number) => ({
  kind: 'rule',
  rule: { kind: 'never', action },
  windowMs,
  sessions: 1,
})

async function create(server: TestServer, json: object): Promise<void> {
  const { status } = await server.request('/api/monitors', { json })
  expect(status).toBe(201)
}

/** A session that calls `delete_all`, with its findings. */
async function send(server: TestServer, startMs: number): Promise<void> {
  const traceId = hex(16)
  await server.postTraces(tracesPayload(session({ traceId, tool: 'delete_all', startMs })))
  await server.services.drain()
  await server.services.findings.computeAll('default', [traceId])
}

test('a restart in any state changes none of it', async () => {
  const PLAYHEAD_DATA = await newDataDirectory()
  onTestFinished(() => rm(PLAYHEAD_DATA, { recursive: true, force: true }))
  let running = await startTestServer({ PLAYHEAD_DATA })
  onTestFinished(() => running.stop())
  const restart = async () => {
    await running.stop()
    running = await startTestServer({ PLAYHEAD_DATA })
    await running.services.monitorLoop.stop()
  }
  await running.services.monitorLoop.stop()
  const t0 = Date.now()
  const statuses = () =>
    running.services.monitors
      .list('default')
      .map(({ monitor, status }) => ({ name: monitor.name, ...status, evaluatedAtMs: null }))
  const states = () => statuses().map(({ name, state }) => [name, state])
  const broken = (windowMs: number) => never('delete_all', windowMs)
  const rate = { kind: 'rate', measure: 'failure-rate', is: 'above', limit: 0.5, minimum: 100 }
  await create(running, { name: 'firing', condition: broken(DAY) })
  await create(running, { name: 'no-data', condition: { ...rate, windowMs: HOUR } })
  await create(running, { name: 'normal', condition: never('other', HOUR) })
  await create(running, { name: 'paused', condition: broken(DAY), isPaused: true })
  await create(running, { name: 'pending', condition: broken(DAY), forMs: 6 * HOUR })
  await create(running, { name: 'recovering', condition: broken(HOUR), forMs: 10 * MINUTE })
  await send(running, t0 - 30 * MINUTE)
  for (const minutes of [0, 15, 45]) await running.services.monitorLoop.evaluate(t0 + minutes * MINUTE)
  const names = ['firing', 'no-data', 'normal', 'paused', 'pending', 'recovering']
  expect(states()).toEqual(names.map((name) => [name, name]))

  const before = statuses()
  await restart()
  expect(statuses()).toEqual(before)
  await running.services.monitorLoop.evaluate(t0 + 46 * MINUTE)
  expect(statuses()).toEqual(before)

  const { client } = running.services.store
  const query = client.query.bind(client)
  client.query = () => Promise.reject(new Error('connect ECONNREFUSED'))
  await running.services.monitorLoop.evaluate(t0 + 47 * MINUTE)
  client.query = query
  expect(states()).toEqual(names.map((name) => [name, name === 'paused' ? name : 'error']))
  const failed = statuses()
  await restart()
  expect(statuses()).toEqual(failed)
  await running.services.monitorLoop.evaluate(t0 + 48 * MINUTE)
  expect(states()).toEqual(names.map((name) => [name, name]))
  const firedAt = (all: typeof before) => all.map(({ firedAtMs }) => firedAtMs)
  expect(firedAt(statuses())).toEqual(firedAt(before))
})

test('a state that the store did not take is stored later, even if nothing changes any more', async () => {
  const server = await startTestServer()
  onTestFinished(() => server.stop())
  await create(server, { name: 'r', condition: never('delete_all', DAY) })
  await send(server, Date.now() - MINUTE)
  const { monitorLoop, monitors, store } = server.services
  await monitorLoop.stop()
  const insert = store.client.insert.bind(store.client)
  store.client.insert = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const now = Date.now()
  await monitorLoop.evaluate(now)
  expect(monitors.find('default', 'r').status.state).toBe('firing')
  store.client.insert = insert
  await monitorLoop.evaluate(now + 15_000)
  const result = await store.client.query({
    query: 'SELECT status FROM monitor_states FINAL',
    format: 'JSONEachRow',
  })
  const [stored] = await result.json<{ status: string }>()
  expect(JSON.parse(stored!.status)).toMatchObject({ state: 'firing', sinceMs: now })
})
