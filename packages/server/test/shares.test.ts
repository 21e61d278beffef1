import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session, Step } from '@playhead/model'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AuditEntry } from '../src/api/schemas/audit.ts'
import { responseSchemas } from '../src/api/schemas/responses.ts'
import type { Share } from '../src/api/schemas/shares.ts'
import { hashSecret } from '../src/access/secrets.ts'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { HOUR, NOW, session } from './project-server.ts'
import { grpcSender } from './grpc-client.ts'
import { switchOff } from './switch-off.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** Said in the session, and nothing that is measured about it. */
const said = {
  prompt: 'my-order-4711',
  error: 'charged-twice-4711',
  answer: 'answer-4711',
  attribute: 'attribute-4711',
  user: 'user-4711',
}

let server: TestServer
let cookie: string
let keys: Record<string, string>
const [shown, other] = [hex(16), hex(16)]

beforeAll(async () => {
  ;({ server, cookie, keys } = await startLockedServer())
  const spans = session({
    traceId: shown,
    name: 'support',
    prompt: said.prompt,
    error: said.error,
    user: said.user,
    more: { 'gen_ai.output.messages': said.answer, 'custom.note': said.attribute },
  })
  Object.assign(spans[2]!.attributes!, {
    'gen_ai.tool.call.arguments': JSON.stringify({ order: said.prompt }),
    'gen_ai.tool.call.result': JSON.stringify({ text: said.answer }),
  })
  const sent = [...spans, ...session({ traceId: other, name: 'secret-other' })]
  await server.request('/v1/traces', { json: tracesPayload(sent), headers: bearer(keys.a) })
})
afterAll(() => server.stop())

type Created = { share: Share; url: string; token: string }

async function share(body: Record<string, unknown> = {}, id = shown): Promise<Created> {
  const response = await server.request(`/api/sessions/${id}/shares`, { json: body, headers: bearer(keys.a) })
  expect(response.status).toBe(200)
  const created = (await response.json()) as { share: Share; url: string }
  return { ...created, token: new URL(created.url).hash.slice(1) }
}

const list = async (query = ''): Promise<Share[]> => {
  const response = await server.request(`/api/shares?${query}`, { headers: bearer(keys.a) })
  return ((await response.json()) as { shares: Share[] }).shares
}

const revoke = (id: string, headers = bearer(keys.a)) =>
  server.request(`/api/shares/${id}`, { method: 'DELETE', headers })

const open = (token: string, path = '/api/shared/session', headers: Record<string, string> = {}) =>
  server.request(path, { headers: { ...bearer(token), ...headers } })

const errorOf = async (response: Response) =>
  [response.status, ((await response.json()) as { error: { code: string } }).error.code] as const

test('a link shows the whole session without a login, for seven days', async () => {
  const { share: made, url, token } = await share()

  expect(url).toBe(`${server.url}/shared/${made.id}#${token}`)
  expect(token).toMatch(/^phs_[A-Za-z0-9]{40}$/)
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    sessionId: shown,
    hasContent: true,
    createdBy: 'all',
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
    revokedAt: null,
    opens: 0,
    lastOpenedAt: null,
  })
  const days = (Date.parse(made.expiresAt) - Date.parse(made.createdAt)) / (24 * HOUR)
  expect(days).toBeCloseTo(7, 3)
  const read = (await (await open(token, '/api/shared/session?payloads=all')).json()) as Session
  const { url: _url, ...summary } = (await own()).session
  expect(read).toEqual({
    ...(await own()),
    session: summary,
    share: { expiresAt: made.expiresAt, hasContent: true },
  })
  const [first] = read.steps
  const step = await open(token, `/api/shared/session/steps/${first!.id}`)
  expect((await step.json()) as Step).toEqual(first)
  const findings = await server.request(`/api/sessions/${shown}/findings`, { headers: bearer(keys.a) })
  expect(await (await open(token, '/api/shared/session/findings')).json()).toEqual(await findings.json())
})

async function own(): Promise<Session> {
  const response = await server.request(`/api/sessions/${shown}?payloads=all`, { headers: bearer(keys.a) })
  const { tapeGaps: _, ...read } = (await response.json()) as Session & { tapeGaps?: unknown }
  return read
}

test('without content, the server leaves out what was said, and names, times, costs and structure stay', async () => {
  const { token } = await share({ hasContent: false })
  const paths = [
    '/api/shared/session',
    '/api/shared/session?payloads=all',
    '/api/shared/session/findings',
    ...(await own()).steps.map(({ id }) => `/api/shared/session/steps/${id}`),
  ]
  const texts = await Promise.all(paths.map(async (path) => (await open(token, path)).text()))
  const whole = JSON.stringify(await own())

  for (const text of Object.values(said)) {
    expect(whole).toContain(text)
    expect(texts.join('\n')).not.toContain(text)
  }
  const read = responseSchemas['GET /api/shared/session'].parse(JSON.parse(texts[0]!)) as Session
  const structure = ({ id, parentId, kind, name, durationMs, cost, status, model, hasPayload }: Step) =>
    ({ id, parentId, kind, name, durationMs, cost, status, model, hasPayload }) as const
  expect(read.steps.map(structure)).toEqual((await own()).steps.map(structure))
  expect(read.steps.map(({ error }) => error?.type)).toEqual(
    (await own()).steps.map(({ error }) => error?.type),
  )
  const { name, cost, usage, durationMs, endState, errorCount } = (await own()).session
  expect(read.session).toMatchObject({ name, cost, usage, durationMs, endState, errorCount })
})

test('a session that is called what was said in it is called something else', async () => {
  const traceId = hex(16)
  const input = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: said.prompt }] }])
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.input.messages': input,
  }
  const call = { traceId, name: 'chat gpt-4o', startMs: NOW - HOUR, endMs: NOW - HOUR + 5, attributes }
  await server.request('/v1/traces', { json: tracesPayload([call]), headers: bearer(keys.a) })

  const names = []
  for (const hasContent of [true, false]) {
    const { token } = await share({ hasContent }, traceId)
    names.push(((await (await open(token)).json()) as Session).session.name)
  }

  expect(names).toEqual([said.prompt, 'Session'])
})

test('openings are counted: each time the session is requested, and a step by whoever did not open it before', async () => {
  const { token, share: made } = await share()
  const [{ id: stepId } = { id: '' }] = (await own()).steps
  const step = `/api/shared/session/steps/${stepId}`
  const counts = []
  for (const [path, agent] of [
    ['/api/shared/session', 'one'],
    [step, 'one'],
    ['/api/shared/session?payloads=all', 'one'],
    ['/api/shared/session', 'one'],
    [step, 'two'],
    [step, 'two'],
  ]) {
    await (await open(token, path, { 'user-agent': agent! })).text()
    counts.push((await list(`session=${shown}`)).find(({ id }) => id === made.id)!.opens)
  }

  expect(counts).toEqual([1, 1, 1, 2, 3, 3])
  const [listed] = await list()
  expect(listed).toEqual({ ...made, opens: 3, lastOpenedAt: expect.any(String) })
  expect(Date.now() - Date.parse(listed!.lastOpenedAt!)).toBeLessThan(60_000)
})

describe('a link that has ended', () => {
  const pathsOf = () => ['/api/shared/session', `/api/shared/session/steps/x`, '/api/shared/session/findings']

  test('is 410 everywhere once it is revoked, and its page says so', async () => {
    const { token, share: made } = await share()
    const page = () => server.request(`/shared/${made.id}`)
    expect((await page()).status).toBe(200)

    const revoked = (await (await revoke(made.id)).json()) as Share

    expect(revoked).toEqual({ ...made, revokedAt: expect.any(String) })
    for (const path of pathsOf())
      expect(await errorOf(await open(token, path))).toEqual([410, 'SHARE_REVOKED'])
    const gone = await page()
    expect([gone.status, gone.headers.get('content-type')]).toEqual([410, 'text/html; charset=UTF-8'])
    expect(await gone.text()).toContain('This link was revoked')
  })

  test('is 410 everywhere once it has expired, and its page says so', async () => {
    const expiresAt = new Date(Date.now() + 5 * 60_000).toISOString()
    const { token, share: made } = await share({ expiresAt })
    expect(made.expiresAt).toBe(expiresAt)
    expect((await open(token)).status).toBe(200)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(expiresAt) + 1 })
    onTestFinished(() => void vi.useRealTimers())

    for (const path of pathsOf())
      expect(await errorOf(await open(token, path))).toEqual([410, 'SHARE_EXPIRED'])
    const gone = await server.request(`/shared/${made.id}`)
    expect(gone.status).toBe(410)
    expect(await gone.text()).toContain('This link has expired')
  })

  test('is 410 once its session is deleted', async () => {
    const traceId = hex(16)
    const json = tracesPayload(session({ traceId }))
    await server.request('/v1/traces', { json, headers: bearer(keys.a) })
    const { token } = await share({}, traceId)
    await server.request(`/api/sessions/${traceId}`, { method: 'DELETE', headers: bearer(keys.a) })

    expect(await errorOf(await open(token))).toEqual([410, 'SHARE_GONE'])
  })

  test('can be told from one that never was', async () => {
    const page = await server.request(`/shared/${hex(16)}`)
    expect(page.status).toBe(404)
    expect(await page.text()).toContain('There is no such link')
    expect(await errorOf(await open(`phs_${'a'.repeat(40)}`))).toEqual([401, 'UNAUTHORIZED'])
    expect(await errorOf(await server.request('/api/shared/session'))).toEqual([401, 'UNAUTHORIZED'])
  })

  test('a link lasts at most a year, and never ends before it begins', async () => {
    const statusOf = async (expiresAt: string) => {
      const headers = bearer(keys.a)
      return (await server.request(`/api/sessions/${shown}/shares`, { json: { expiresAt }, headers })).status
    }
    expect(await statusOf(new Date(NOW + 400 * 24 * HOUR).toISOString())).toBe(400)
    expect(await statusOf(new Date(NOW - 1).toISOString())).toBe(400)
    expect(await statusOf('never')).toBe(400)
  })
})

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

test('who created, listed and revoked links is in the audit log', async () => {
  const { share: made } = await share({ hasContent: false })
  await list()
  await revoke(made.id)
  const response = await server.request('/api/audit?project=a&action=share&limit=3', { headers: { cookie } })
  const { entries } = (await response.json()) as { entries: AuditEntry[] }

  expect(
    entries.map(({ action, project, caller, subject, detail }) => [
      action,
      project,
      caller.name,
      subject,
      detail,
    ]),
  ).toEqual([
    ['share.revoked', 'a', 'all', shown, `link ${made.id}`],
    ['share.listed', 'a', 'all', '', ''],
    ['share.created', 'a', 'all', shown, `link ${made.id}; expires ${made.expiresAt}; without content`],
  ])
})

test('a link can be managed only with a key or login of its project that may change sessions', async () => {
  const { share: made } = await share()
  const { secret } = await server.services.registry.createKey({
    project: 'a',
    name: 'reader',
    scopes: ['read'],
  })
  const statuses = []
  for (const headers of [{}, bearer(secret), bearer(keys.b)])
    for (const request of [
      server.request(`/api/sessions/${shown}/shares`, { json: {}, headers }),
      server.request(`/api/shares?session=${shown}`, { headers }),
      revoke(made.id, headers as ReturnType<typeof bearer>),
    ])
      statuses.push((await request).status)

  // The other project has neither this session nor this link.
  expect(statuses).toEqual([401, 401, 401, 403, 403, 403, 404, 404, 404])
})

test('nothing of a link is cached, indexed or named to other sites', async () => {
  const { token, share: made } = await share()
  const headersOf = ({ headers }: Response) =>
    ['cache-control', 'referrer-policy', 'x-robots-tag'].map((name) => headers.get(name))
  const responses = [
    await server.request(`/shared/${made.id}`),
    await server.request(`/shared/${hex(16)}`),
    await open(token),
    await open('phs_wrong'),
  ]
  await revoke(made.id)
  responses.push(await server.request(`/shared/${made.id}`), await open(token))

  for (const response of responses) {
    expect(headersOf(response)).toEqual(['no-store', 'no-referrer', 'noindex, nofollow'])
    await response.body?.cancel()
  }
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
