import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Issue } from '../../src/api/schemas/findings.ts'
import { responseSchemas } from '../../src/api/schemas/responses.ts'
import { startClusterOverHttp, type EngineOverHttp } from '../engine-over-http.ts'
import { tracesPayload, type SpanOptions } from '../otlp.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import { healthySession, loopSession, NOW, toolSession } from './failing-sessions.ts'

let engine: EngineOverHttp
/** Two nodes of one cluster. */
let servers: [TestServer, TestServer]
const start = () => startTestServer({ CLICKHOUSE_URL: engine.url, CLICKHOUSE_CLUSTER: 'two' })
beforeAll(async () => {
  engine = await startClusterOverHttp()
  servers = [await start(), await start()]
})
afterAll(async () => {
  for (const server of servers) await server.stop()
  await engine.stop()
})

async function issues(query = '', server = servers[1]): Promise<Issue[]> {
  const response = await server.request(`/api/issues${query}`)
  const body: unknown = await response.json()
  expect(responseSchemas['GET /api/issues'].parse(body)).toEqual(body)
  return (body as { issues: Issue[] }).issues
}

async function change(id: string, json: object, server = servers[0]): Promise<Issue> {
  const response = await server.request(`/api/issues/${id}`, { method: 'PATCH', json })
  expect(response.status).toBe(200)
  return (await response.json()) as Issue
}

/**
 * Findings are computed in the background, by the node that got the spans. A machine that stalls has to get that far: a second
 * attempt of a test would send its sessions again, and the tests after it would count them twice.
 */
const eventually = <Value>(check: () => Promise<Value>) =>
  vi.waitFor(check, { timeout: 150_000, interval: 200 })

const send = (spans: SpanOptions[], version?: string) =>
  servers[0].postTraces(
    tracesPayload(spans, {
      'service.name': 'shop',
      ...(version !== undefined && { 'service.version': version }),
    }),
  )

const crash = (order: number, options: Parameters<typeof toolSession>[1] = {}) =>
  toolSession(
    [
      {
        tool: 'refund_order',
        given: { id: `o_${order}` },
        error: `order o_${order} is locked since ${order} ms`,
      },
    ],
    {
      name: 'shop',
      endState: 'Fail',
      ...options,
    },
  )

const onlyCrash = async () => (await issues()).find(({ kind }) => kind === 'error')!

test('sessions that fail alike are one issue, whatever their ids and numbers', async () => {
  for (const index of [1, 2, 3])
    await send(crash(100 + index, { userId: `u${index % 2}`, startMs: NOW - index * 3_600_000 }), '1')
  await send(loopSession({ startMs: NOW - 1000 }), '1')
  await send(healthySession({ startMs: NOW - 2000 }), '1')
  const found = await eventually(async () => {
    const all = await issues()
    // All of it is awaited: the session that passed may be stored after the others have been computed.
    expect(all).toMatchObject([
      { kind: 'loop', sessions: 1, passingSessionId: expect.any(String) },
      {
        kind: 'error',
        sessions: 3,
        state: 'open',
        users: 2,
        firstSeenAt: new Date(NOW - 3 * 3_600_000).toISOString(),
        lastSeenAt: new Date(NOW - 3_600_000).toISOString(),
        versions: ['1'],
        title: expect.stringContaining('refund_order'),
        passingSessionId: null,
      },
    ])
    return all
  })
  expect(found[1]!.activity.reduce((sum, count) => sum + count, 0)).toBe(3)
})

test('one issue shows its versions, its suspects and its sessions', async () => {
  const { id, exampleSessionId } = await onlyCrash()
  const response = await servers[1].request(`/api/issues/${id}`)
  const body: unknown = await response.json()
  expect(responseSchemas['GET /api/issues/{id}'].parse(body)).toEqual(body)
  expect(body).toMatchObject({
    byVersion: [{ version: '1', sessions: 3 }],
    suspects: [{ name: expect.any(String), sessions: 3, asFirst: 3 }],
    example: {
      sentence: expect.stringContaining('refund_order'),
      stepId: expect.stringMatching(/^[0-9a-f]{16}$/),
    },
  })
  const listed = await servers[1].sessions(`issue=${id}&limit=10`)
  expect(listed).toHaveLength(3)
  expect(listed.map((session) => session.id)).toContain(exampleSessionId)
  expect((await servers[1].request('/api/issues/0000')).status).toBe(404)
})

test('resolved in version 2, seen in version 2: resolved; seen in version 3: reopened', async () => {
  const { id } = await onlyCrash()
  expect(await change(id, { state: 'resolved', version: '2', note: 'fixed the lock' })).toMatchObject({
    state: 'resolved',
    resolvedVersion: '2',
    note: 'fixed the lock',
  })
  await send(crash(7), '2')
  await eventually(async () => expect(await onlyCrash()).toMatchObject({ sessions: 4, state: 'resolved' }))
  expect((await issues('?state=open')).map(({ kind }) => kind)).toEqual(['loop'])
  await send(crash(8), '3')
  await eventually(async () => expect(await onlyCrash()).toMatchObject({ sessions: 5, state: 'reopened' }))
  expect((await issues('?state=open')).map(({ kind }) => kind)).toEqual(['loop', 'error'])
  expect((await onlyCrash()).versions).toEqual(['1', '2', '3'])
})

test('ignored until two more, and the state survives a restart on both nodes', async () => {
  const { id } = await onlyCrash()
  expect(await change(id, { state: 'ignored', sessions: 2 })).toMatchObject({
    state: 'ignored',
    ignoredUntil: 7,
  })
  await send(crash(9), '3')
  await eventually(async () => expect(await onlyCrash()).toMatchObject({ sessions: 6, state: 'ignored' }))
  for (const server of servers) await server.stop()
  servers = [await start(), await start()]
  expect(await onlyCrash()).toMatchObject({ sessions: 6, state: 'ignored', note: 'fixed the lock' })
  await send(crash(10), '3')
  await eventually(async () => expect(await onlyCrash()).toMatchObject({ sessions: 7, state: 'reopened' }))
  expect(await change(id, { state: 'open' })).toMatchObject({ state: 'open' })
})

test('re-runs never count, and other projects see nothing', async () => {
  const [root, ...rest] = crash(11)
  const rerun = { 'playhead.rerun.parent': 'a'.repeat(32), 'playhead.rerun.lane': 'tape' }
  await send([{ ...root, attributes: { ...root!.attributes, ...rerun } }, ...rest], '3')
  const { id, sessions } = await onlyCrash()
  const findings = await servers[0].request(`/api/sessions/${root!.traceId}/findings`)
  expect(await findings.json()).toMatchObject({ suspects: [expect.anything()] })
  expect(await onlyCrash()).toMatchObject({ id, sessions })
  await servers[1].services.registry.createProject({ id: 'other', name: 'Other' })
  expect(await issues('?project=other')).toEqual([])
  expect((await servers[1].request(`/api/issues/${id}?project=other`)).status).toBe(404)
})

test('a change needs something to change', async () => {
  const { id } = await onlyCrash()
  for (const json of [
    {},
    { state: 'open', version: '3' },
    { state: 'resolved', sessions: 3 },
    { state: 'gone' },
  ])
    expect((await servers[0].request(`/api/issues/${id}`, { method: 'PATCH', json })).status).toBe(400)
})

test('of more than 1,000 issues, those seen last are listed, and the response says how many are not', async () => {
  for (const id of ['many', 'none']) await servers[0].services.registry.createProject({ id, name: id })
  await servers[0].services.store.client.command({
    query: `INSERT INTO session_findings (project, session_id, version, started_at, name, issue_id, issue_kind, issue_title)
      SELECT 'many', lower(hex(sipHash128(number))), 1, now64(3) - number, 'shop', lower(hex(sipHash64(number))), 'error', toString(number)
      FROM numbers(1003)`,
  })
  const read = async (query: string) =>
    (await (await servers[0].request(`/api/issues?project=many${query}`)).json()) as {
      issues: Issue[]
      omitted: number
    }

  const { issues: listed, omitted } = await read('')
  expect([listed.length, listed[0]?.title, listed.at(-1)?.title, omitted]).toEqual([1_000, '0', '999', 3])
  expect(await read('&state=resolved')).toEqual({ issues: [], omitted: 3 })
  expect(await (await servers[0].request('/api/issues?project=none')).json()).toEqual({
    issues: [],
    omitted: 0,
  })
})
