import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Registry } from '../src/access/registry.ts'
import { createCautiousClock } from '../src/maintenance/retention.ts'
import { VersionClock } from '../src/store/version-clock.ts'
import { bearer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const DAY_MS = 86_400_000
const NOON = Date.UTC(2026, 10, 16, 12)

let server: TestServer
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(NOON)
  server = await startTestServer()
})
beforeEach(() => {
  vi.setSystemTime(NOON)
})
afterAll(async () => {
  await server.stop()
  vi.useRealTimers()
})

/** Runs `use` with a server on this folder, and stops it. */
async function withServer<Result>(
  folder: string,
  use: (server: TestServer) => Promise<Result>,
): Promise<Result> {
  const server = await startTestServer({
    PLAYHEAD_DATA: folder,
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: 'correct horse battery',
  })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

test('a revoked key and an ended session stay so, with the clock set back a day before each change and a restart after it', async () => {
  const folder = await temporaryFolder()
  const session = hex(16)
  const root = { traceId: session, spanId: hex(8), startMs: NOON - 1_000 }
  const admin = await withServer(folder, async ({ services, request }) => {
    const { secret } = await services.registry.createKey({
      project: 'default',
      name: 'all',
      scopes: ['ingest', 'read', 'admin'],
    })
    await request('/v1/traces', { json: tracesPayload([root]), headers: bearer(secret) })
    await services.drain()
    return secret
  })
  const stateOf = async ({ request }: TestServer) => {
    const response = await request('/api/sessions', { headers: bearer(admin) })
    const { sessions } = (await response.json()) as { sessions: { id: string; endState: string }[] }
    return sessions.map(({ id, endState }) => [id, endState])
  }

  vi.setSystemTime(NOON - DAY_MS)
  const revoked = await withServer(folder, async (server) => {
    const { services, request } = server
    const json = tracesPayload([{ ...root, endMs: NOON }])
    await request('/v1/traces', { json, headers: bearer(admin) })
    await services.drain()
    expect(await stateOf(server)).toEqual([[session, 'success']])
    const { key, secret } = await services.registry.createKey({
      project: 'default',
      name: 'lost laptop',
      scopes: ['read'],
    })
    await services.registry.updateProject('default', { name: 'First' })
    vi.setSystemTime(NOON - 2 * DAY_MS)
    await services.registry.revokeKey('default', key.id)
    await services.registry.updateProject('default', { name: 'Second' })
    return secret
  })
  await withServer(folder, async (server) => {
    const response = await server.request('/api/sessions', { headers: bearer(revoked) })
    expect(response.status).toBe(401)
    expect(server.services.registry.project('default')?.name).toBe('Second')
    expect(await stateOf(server)).toEqual([[session, 'success']])
  })
})

test('open sessions that were heard while the clock was a day ahead are lost; those that still send are running', async () => {
  const [dead, alive] = [hex(16), hex(16)]
  const send = (traceId: string) => server.postTraces(tracesPayload([{ traceId, startMs: NOON }]))
  vi.setSystemTime(NOON + DAY_MS)
  await send(dead)
  await send(alive)
  vi.setSystemTime(NOON)
  await send(alive)

  const listed = await server.sessions()
  const opened = await Promise.all([dead, alive].map((id) => server.session(id)))

  const states = new Map(listed.map(({ id, endState }) => [id, endState]))
  expect([states.get(dead), states.get(alive)]).toEqual(['lost', 'running'])
  expect(opened.map(({ session }) => session.endState)).toEqual(['lost', 'running'])
  expect(await server.sessions('status=running')).toMatchObject([{ id: alive }])
})

test('two servers on one store: the later change wins, even if the clock of its server is behind', async () => {
  const { store } = server.services
  const { client } = store
  const openAt = async (nowMs: number) => Registry.open(store, await VersionClock.open(client, () => nowMs))
  const [ahead, behind] = [await openAt(NOON + DAY_MS), await openAt(NOON - DAY_MS)]
  const { key } = await ahead.createKey({ project: 'default', name: 'k', scopes: ['read'] })
  await ahead.updateProject('default', { name: 'from ahead' })

  await behind.reload()
  await behind.revokeKey('default', key.id)
  await behind.updateProject('default', { name: 'from behind' })

  const third = await openAt(NOON)
  expect(third.keys('default').map(({ revokedAt }) => revokedAt !== null)).toEqual([true])
  expect(third.project('default')?.name).toBe('from behind')
})

test('versions rise by at least one, whatever the clock does', async () => {
  const start = NOON + 100 * DAY_MS
  let nowMs = start
  const clock = await VersionClock.open(server.services.store.client, () => nowMs)
  const jumps = [0, 0, -DAY_MS, 1, DAY_MS * 3, -DAY_MS]
  const versions = jumps.map((jump) => {
    nowMs += jump
    return clock.next()
  })

  expect(versions.map((version) => version - start * 1_000)).toEqual([
    0,
    1,
    2,
    3,
    2 * DAY_MS * 1_000 + 1_000,
    2 * DAY_MS * 1_000 + 1_001,
  ])
})

test('retention believes a clock that jumped ahead only if it is still ahead at the next run', () => {
  let [nowMs, elapsedMs] = [NOON, 0]
  const pass = (realMs: number, jumpMs = 0) => {
    nowMs += realMs + jumpMs
    elapsedMs += realMs
  }
  const trusted = createCautiousClock(
    () => nowMs,
    () => elapsedMs,
  )

  pass(1_000)
  expect(trusted()).toBe(NOON + 1_000)
  pass(1_000, DAY_MS)
  expect(trusted()).toBe(NOON + 2_000)
  pass(1_000)
  expect(trusted()).toBe(NOON + DAY_MS + 3_000)
  pass(1_000, -DAY_MS)
  expect(trusted()).toBe(NOON + 4_000)
  // The store accepts whole milliseconds only.
  pass(1_000.75, DAY_MS)
  expect(trusted()).toBe(NOON + 5_000)
})
