import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { applyRetention } from '../src/maintenance/retention.ts'
import { listQuerySchema, listSessions } from '../src/query/list-sessions.ts'
import { findNewestPage } from '../src/query/newest-page.ts'
import { MAX_ROWS } from '../src/store/newest-sessions.ts'
import { hex, tracesPayload } from './otlp.ts'
import { DAY, HOUR, NOW, ProjectServer, session } from './project-server.ts'
import { startTestServer } from './test-server.ts'

const api = new ProjectServer()
const first = hex(16)

beforeAll(async () => {
  api.server = await startTestServer()
  await api.freshProject()
  const many = Array.from({ length: 12 }, (_, index) =>
    session({
      name: `number ${index}`,
      startMs: NOW - (index % 3) * DAY - index * 1_000.25,
      durationMs: 100 + index / 3,
      tags: index % 2 === 0 ? ['even', 'é"\u2028'] : [],
      tool: index % 3 === 0 ? 'search' : 'refund',
      user: index % 4 === 0 ? 'ann' : 'bob',
      ...(index % 5 === 0 && { error: 'customer_id cannot be null' }),
      more: index === 3 ? { 'playhead.test.name': 'refunds work', 'playhead.test.run_id': 'r1' } : {},
    }),
  )
  await api.post(session({ traceId: first, name: 'first', startMs: NOW - 2 * HOUR }), ...many)
})
afterAll(() => api.server.stop())

const questions = [
  {},
  { limit: 3 },
  { limit: 13 },
  { from: '2h' },
  { user: 'ann', from: '1d' },
  { user: '' },
  { status: 'fail' },
  { status: ['running', 'success'], reruns: 'exclude' },
  { tag: ['even', 'é"\u2028'], tool: 'search' },
  { model: ['gpt-4o', 'other'], agent: 'number 4' },
  { runId: 'r1' },
  { environment: 'production' },
  { demo: 'false' },
] as const

const few = [{ limit: 7 }, { status: 'success', user: 'ann', from: '2d' }]

/** Compares every page of some questions with what the engine says. */
async function expectSame(asked: readonly object[] = few): Promise<void> {
  const { services } = api.server
  const { store } = services
  await services.drain()
  const fromEngine = { ...store, engine: undefined }
  // The first list only notes that somebody looks.
  for (const _ of [1, 2]) await listSessions(store, api.project, listQuerySchema.parse({ limit: 1 }))
  await expect.poll(() => findNewestPage(store.sessions, api.project, newest, undefined)).toBeDefined()
  for (const question of asked) {
    let cursor: string | undefined
    do {
      const query = { ...listQuerySchema.parse(question), ...(cursor !== undefined && { cursor }) }
      const remembered = await listSessions(store, api.project, query)
      expect(remembered).toEqual(await listSessions(fromEngine, api.project, query))
      cursor = remembered.nextCursor
    } while (cursor !== undefined)
  }
}
const newest = listQuerySchema.parse({})

test('memory lists what the engine lists, also for the questions that it answers in part', async () => {
  await expectSame(questions)
  const { store } = api.server.services
  const inMemory = questions.map((question) =>
    findNewestPage(store.sessions, api.project, listQuerySchema.parse(question), undefined),
  )
  expect(inMemory.every((rows) => rows !== undefined)).toBe(true)
  const others = [{ text: 'hello' }, { cost: '>0' }, { to: '1d' }, { name: 'first' }]
  for (const question of others)
    expect(findNewestPage(store.sessions, api.project, listQuerySchema.parse(question), undefined)).toBe(
      undefined,
    )
})

test('questions that memory can not answer do not make it read a project', async () => {
  const { sessions } = api.server.services.store
  sessions.newest.forget()
  const read = vi.spyOn(sessions.newest, 'load')
  const list = (query: object) =>
    listSessions(api.server.services.store, api.project, listQuerySchema.parse(query))
  for (const query of [{ score: 'helpful>0.5' }, { cost: '>0' }, { text: 'hello' }, { sort: 'cost' }])
    await list(query)
  expect(read).not.toHaveBeenCalled()
  await list({ tag: 'even' })
  expect(read).toHaveBeenCalledOnce()
  read.mockRestore()
})

test('new sessions, more steps, a session that runs, and one that began earlier', async () => {
  await api.post(session({ name: 'new', startMs: NOW }))
  await api.post([{ traceId: hex(16), name: 'runs', startMs: NOW }])
  await expectSame()
  await api.post([{ traceId: first, name: 'later', startMs: NOW - HOUR, endMs: NOW }])
  await api.post([{ traceId: first, name: 'earlier', startMs: NOW - 30 * DAY, endMs: NOW - 29 * DAY }])
  await expectSame()
  expect((await api.names('limit=1000')).filter((name) => name === 'first')).toHaveLength(1)
})

test('tags, a deleted session, retention and an undone restore', async () => {
  const { request, services } = api.server
  const path = `/api/sessions/${first}?project=${api.project}`
  await request(path, { method: 'PATCH', json: { tags: { add: ['even'] } } })
  await expectSame()
  const backup = await (await request('/api/backup')).arrayBuffer()
  await request(path, { method: 'DELETE' })
  await expectSame()
  expect(await api.names('limit=1000')).not.toContain('first')
  const expired = (await api.server.sessions(`project=${api.project}&to=1d`))[0]!.id
  const openExpired = async () => (await request(`/api/sessions/${expired}?project=${api.project}`)).status
  await services.registry.updateProject(api.project, { retentionDays: 1 })
  expect(await openExpired()).toBe(200)
  await applyRetention(services, Date.now())
  expect(await openExpired()).toBe(404)
  await expectSame()
  const after = await api.names('limit=1000')
  await services.registry.updateProject(api.project, { retentionDays: null })
  const headers = { 'content-type': 'application/x-tar' }
  await request('/api/restore', { method: 'POST', body: backup, headers })
  await expectSame()
  expect(await api.names('limit=1000')).toContain('first')
  await request('/api/restore/undo', { method: 'POST' })
  await expectSame()
  expect(await api.names('limit=1000')).toEqual(after)
})

test('an engine that was killed', async () => {
  const { engine } = api.server.services.store
  const { restarts } = engine!
  process.kill(engine!.pid!, 'SIGKILL')
  await api.post(session({ name: 'while it was down', startMs: NOW + 1_000 }))
  const { drain } = api.server.services
  await expect.poll(() => drain().then(() => 'stored', String), { timeout: 60_000 }).toBe('stored')
  expect(engine!.restarts).toBe(restarts + 1)
  await expectSame()
  expect(await api.names('limit=1')).toEqual(['while it was down'])
})

test('more sessions than memory holds', async () => {
  await api.freshProject()
  const spans = Array.from({ length: MAX_ROWS + 20 }, (_, index) => ({
    traceId: hex(16),
    name: `session ${index}`,
    // Many begin at the same moment.
    startMs: NOW - Math.floor(index / 7) * 60_000,
    endMs: NOW,
  }))
  await api.server.request('/v1/traces', {
    json: tracesPayload(spans.slice(20)),
    headers: { 'x-playhead-project': api.project },
  })
  const { store } = api.server.services
  const compareAll = async () => {
    await api.server.services.drain()
    for (const cursor of [undefined, 'before the end', 'at the end']) {
      const skipped = cursor === undefined ? 0 : cursor === 'at the end' ? 1_990 : 1_900
      const page = listQuerySchema.parse({ limit: 1_000 })
      let query = page
      for (let left = skipped; left > 0; left -= 1_000) {
        const { nextCursor } = await listSessions({ ...store, engine: undefined }, api.project, {
          ...query,
          limit: Math.min(left, 1_000),
        })
        query = { ...page, limit: 30, cursor: nextCursor! }
      }
      expect(await listSessions(store, api.project, query)).toEqual(
        await listSessions({ ...store, engine: undefined }, api.project, query),
      )
    }
  }
  for (const _ of [1, 2]) await listSessions(store, api.project, newest)
  await expect.poll(() => findNewestPage(store.sessions, api.project, newest, undefined)).toBeDefined()
  await compareAll()
  await api.post(spans.slice(0, 20))
  await compareAll()
})
