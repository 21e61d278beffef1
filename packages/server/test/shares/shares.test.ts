import type { Session, Step } from '@playhead/model'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AuditEntry } from '../../src/api/schemas/audit.ts'
import { responseSchemas } from '../../src/api/schemas/responses.ts'
import type { Share } from '../../src/api/schemas/shares.ts'
import { bearer } from '../locked-server.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { HOUR, NOW, session } from '../project-server.ts'
import { errorOf, said, shown, startSharing } from './sharing.ts'

const { server, cookie, keys, share, list, revoke, open, own } = await startSharing()
afterAll(() => server.stop())

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

test('without content, the server leaves out what was said, and names, times, costs and structure stay', async () => {
  const { token } = await share({ hasContent: false })
  const paths = [
    '/api/shared/session',
    '/api/shared/session?payloads=all',
    '/api/shared/session/findings',
    `/api/shared/session/steps?ids=${(await own()).steps.map(({ id }) => id).join(',')}`,
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
      revoke(made.id, headers),
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
