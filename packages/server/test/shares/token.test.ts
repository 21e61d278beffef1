import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session } from '@playhead/model'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hashSecret } from '../../src/access/secrets.ts'
import { grpcSender } from '../grpc-client.ts'
import { bearer } from '../locked-server.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import { switchOff } from '../switch-off.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import { errorOf, other, shown, startSharing, type Created } from './sharing.ts'

const { server, cookie, keys, share, list, revoke, open, own } = await startSharing()
afterAll(() => server.stop())

type Paths = Record<
  string,
  Record<string, { parameters?: { name: string; in: string; required?: boolean }[] }>
>

/** Sends a request with the token to every route except those of links; lists those that did not refuse it. */
async function openRoutes(target: TestServer, token: string, ids: { id: string; stepId: string }) {
  const document = (await (await target.request('/api/openapi.json')).json()) as { paths: Paths }
  const answered: string[] = []
  let asked = 0
  for (const [template, methods] of Object.entries(document.paths))
    for (const name of Object.keys(methods)) {
      if (template.startsWith('/api/shared/')) continue
      const method = name.toUpperCase()
      const path = template.replace('{id}', ids.id).replace('{stepId}', ids.stepId).replace('{project}', 'a')
      const response = await target.request(`${path}?project=a&field=model`, {
        method,
        headers: { ...bearer(token), 'content-type': 'application/json' },
        ...(['POST', 'PATCH', 'PUT'].includes(method) && { body: '{}' }),
      })
      await response.body?.cancel()
      asked += 1
      if (response.status !== 403) answered.push(`${method} ${template}: ${response.status}`)
    }
  return { answered, asked }
}

const outsideTheDocument: [string, string, unknown?][] = [
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ['POST', '/v1/traces', { resourceSpans: [] }],
  ['POST', '/v1/logs', { resourceLogs: [] }],
  ['GET', '/metrics'],
  ['GET', '/readyz'],
  ['GET', '/api/openapi.json'],
  ['GET', '/sessions'],
  ['GET', '/public/v1/traces'],
]

test('no other route opens with the token of a link: every route of the OpenAPI document refuses it', async () => {
  const { token } = await share()
  const [{ id: stepId } = { id: '' }] = (await own()).steps
  // Also of the session that the link is for: there is one way to it.
  const { answered, asked } = await openRoutes(server, token, { id: shown, stepId })
  for (const [method, path, json] of outsideTheDocument) {
    const response = await server.request(path, {
      method,
      headers: bearer(token),
      ...(json !== undefined && { json }),
    })
    if (response.status !== 403) answered.push(`${method} ${path}: ${response.status}`)
  }

  expect(answered).toEqual([])
  expect(asked).toBeGreaterThan(60)
})

test('the same in every header that a key can come in, and not as a cookie or in the address', async () => {
  const { token } = await share()
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
  const statuses = []
  for (const headers of [
    { 'x-api-key': token },
    { 'x-playhead-key': token },
    basic(`${token}:`),
    basic(`x:${token}`),
  ])
    statuses.push((await server.request('/api/sessions?project=a', { headers })).status)
  for (const [path, headers] of [
    [`/api/shared/session?token=${token}`, {}],
    ['/api/shared/session', { cookie: `playhead_login=${token}` }],
    ['/api/shared/session', { 'x-api-key': token }],
    // A login and a key of the project are no token.
    ['/api/shared/session', { cookie }],
    ['/api/shared/session', bearer(keys.a)],
  ] as const)
    statuses.push((await server.request(path, { headers })).status)

  expect(statuses).toEqual([403, 403, 403, 403, 401, 401, 401, 401, 401])
})

test('a step of another session is not found', async () => {
  const { token } = await share()
  const response = await server.request(`/api/sessions/${other}?payloads=none`, { headers: bearer(keys.a) })
  const { steps } = (await response.json()) as Session

  for (const { id } of steps)
    expect(await errorOf(await open(token, `/api/shared/session/steps/${id}`))).toEqual([
      404,
      'STEP_NOT_FOUND',
    ])
})

test('what a revoked link is refused, it gets if nobody looks whether it was revoked', async () => {
  const { token, share: made } = await share()
  const { shares } = server.services.gate
  await revoke(made.id)
  expect((await open(token)).status).toBe(410)
  switchOff(shares, 'admit', () => ({ ...made, project: 'a', hash: hashSecret(token) }))
  expect((await open(token)).status).toBe(200)
})

test('the store, the audit log and the output of the server have no token', async () => {
  const { token, share: made } = await share()
  await (await open(token)).text()
  await server.request(`/api/sessions?key=1`, { headers: bearer(token) })
  await revoke(made.id)
  await server.services.gate.shares.save()
  const { client } = server.services.store
  const tables = ['shares', 'share_opens', 'audit']
  const rows = await Promise.all(
    tables.map(async (table) =>
      (await client.query({ query: `SELECT * FROM ${table}`, format: 'JSONEachRow' })).text(),
    ),
  )

  expect(rows[0]).toContain(hashSecret(token))
  expect(rows[1]).toContain(made.id)
  for (const text of [...rows, ...server.reports, JSON.stringify(await list())])
    expect(text).not.toContain(token.slice(4))
})

describe('a server without auth', () => {
  let folder: string
  let local: TestServer
  const traceId = hex(16)
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'playhead-shares-'))
    local = await startTestServer({ PLAYHEAD_GRPC_PORT: '0', PLAYHEAD_DATA: folder })
    await local.postTraces(tracesPayload(session({ traceId })))
  })
  afterAll(async () => {
    await local.stop()
    await rm(folder, { recursive: true })
  })
  const create = async () => {
    const response = await local.request(`/api/sessions/${traceId}/shares`, { json: {} })
    const { url, share: made } = (await response.json()) as Created
    return { token: new URL(url).hash.slice(1), id: made.id }
  }
  const statusOf = async (token: string) =>
    (await local.request('/api/shared/session', { headers: bearer(token) })).status

  test('opens nothing else to the token either', async () => {
    const { token } = await create()
    const [{ id: stepId } = { id: '' }] = (await local.session(traceId)).steps

    const { answered } = await openRoutes(local, token, { id: traceId, stepId })

    expect(answered).toEqual([])
    expect(await statusOf(token)).toBe(200)
    const grpc = grpcSender(local.grpcAddress!)
    onTestFinished(() => grpc.close())
    expect(await grpc.send('trace', Buffer.alloc(0), bearer(token))).toMatchObject({ code: 7 })
  })

  test('keeps links and counts when it restarts, and a revoked link revoked although its row is lost', async () => {
    const [kept, lost] = [await create(), await create()]
    await statusOf(kept.token)
    await local.request(`/api/shares/${lost.id}`, { method: 'DELETE' })
    const query = `ALTER TABLE shares DELETE WHERE id = '${lost.id}' AND revoked_at IS NOT NULL`
    await local.services.store.client.command({ query, clickhouse_settings: { mutations_sync: '2' } })
    await local.stop()
    local = await startTestServer({ PLAYHEAD_DATA: folder })

    const listed = local.services.gate.shares.list('default')
    expect(listed.find(({ id }) => id === kept.id)).toMatchObject({ opens: 1, revokedAt: null })
    expect([await statusOf(kept.token), await statusOf(lost.token)]).toEqual([200, 410])
  })
})
