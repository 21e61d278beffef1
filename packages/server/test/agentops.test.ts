import { afterAll, describe, expect, test } from 'vitest'
import type { Session, Step } from '@playhead/model'
import { agentOpsRecording, replay } from './agentops-recording.ts'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer } from './test-server.ts'

const server = await startTestServer()
afterAll(() => server.stop())

const uuid = '22222222-2222-4222-8222-222222222222'

let projects = 0
async function newProject(): Promise<string> {
  const id = `p${(projects += 1)}`
  await server.services.registry.createProject({ id, name: id })
  return id
}

async function sessionsOf(project: string): Promise<Session[]> {
  const list = await server.sessions(`project=${project}`)
  return Promise.all(list.map(({ id }) => server.session(id, `project=${project}&payloads=all`)))
}

function outline(steps: readonly Step[]): string[] {
  const depths = new Map<string, number>()
  return steps.map((step) => {
    const depth = step.parentId === null ? 0 : (depths.get(step.parentId) ?? -1) + 1
    depths.set(step.id, depth)
    return `${'  '.repeat(depth)}${step.kind} ${step.name}${step.error === undefined ? '' : ` · ${step.error.type}`}`
  })
}

async function json(path: string, options: Parameters<typeof server.request>[1] = {}) {
  const response = await server.request(path, options)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('the token exchange', () => {
  test('accepts any key while auth is off, and returns a token that works for OTLP', async () => {
    const exchange = await json('/v3/auth/token', { json: { api_key: uuid } })

    expect(exchange).toEqual({
      status: 200,
      body: { token: uuid, project_id: 'default', project_prem_status: 'pro' },
    })
    const traceId = hex(16)
    const sent = await server.request('/v1/traces', {
      json: tracesPayload([{ traceId, endMs: 1_700_000_000_100 }]),
      headers: { authorization: `Bearer ${String(exchange.body.token)}` },
    })
    expect(sent.status).toBe(200)
    expect((await server.session(traceId)).steps).toHaveLength(1)
  })

  test('names the variable to set if the key is missing', async () => {
    expect(await json('/v3/auth/token', { json: {} })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('Set AGENTOPS_API_KEY') as string },
    })
  })
})

describe('with auth on', async () => {
  const guarded = await startTestServer({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: 'correct horse' })
  afterAll(() => guarded.stop())
  const { registry } = guarded.services
  await registry.createProject({ id: 'shop', name: 'Shop' })
  const { secret } = await registry.createKey({
    project: 'shop',
    name: 'agent',
    scopes: ['ingest', 'read'],
    format: 'uuid',
  })
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await guarded.request(path, { json: body, headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const refusal =
    'AGENTOPS_API_KEY is unknown to this server or revoked. Create one with: playhead keys create --uuid'

  test('a key in AgentOps format is exchanged for a token of its project', async () => {
    expect(secret).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await post('/v3/auth/token', { api_key: secret })).toMatchObject({
      status: 200,
      body: { token: secret, project_id: 'shop' },
    })
  })

  test('a wrong key is refused everywhere, and nothing is stored', async () => {
    const key = { 'x-agentops-api-key': uuid }
    const bearer = { authorization: `Bearer ${uuid}` }
    const session = { session_id: uuid, init_timestamp: '2026-01-01T00:00:00+00:00' }
    const answers = [
      await post('/v3/auth/token', { api_key: uuid }),
      await post('/v2/create_session', { session }, key),
      await post('/v2/create_events', { events: [] }, { authorization: `Bearer ${uuid}.${uuid}` }),
      await post('/v4/logs/upload/', { body: 'x' }, { ...bearer, 'trace-id': '1' }),
      await post('/v4/objects/upload/', { body: 'x' }, bearer),
      await post('/public/v1/auth/access_token', { api_key: uuid }),
    ]
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
      answers.map(() => [401, refusal]),
    )
    expect((await guarded.request('/v1/traces', { json: tracesPayload([{}]), headers: bearer })).status).toBe(
      401,
    )
    expect(guarded.services.counters).toMatchObject({ spansStored: 0, logsStored: 0 })
  })

  test('the v2 API stores into the project of the key, and of the token alone', async () => {
    const answers = await replay(agentOpsRecording('py0326'), guarded.url, { 'x-agentops-api-key': secret })

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const headers = { authorization: `Bearer ${secret}` }
    const list = await (await guarded.request('/api/sessions?project=shop', { headers })).json()
    expect(list).toMatchObject({ sessions: [{ endState: 'success', tags: ['legacy', 'more'] }] })
  })
})

test('py0326: recorded requests become a session with steps, error, agent, tags, cost and end state', async () => {
  const project = await newProject()
  const answers = await replay(agentOpsRecording('py0326'), server.url, { 'x-playhead-project': project })

  const [{ session, steps }] = (await sessionsOf(project)) as [Session]
  expect(session).toMatchObject({
    id: '0e7bfe0ff60340e283a945088768a2cf',
    endState: 'success',
    endStateReason: 'fine',
    tags: ['legacy', 'more'],
    startedAt: '2026-11-15T09:47:48.196Z',
    endedAt: '2026-11-15T09:47:48.366Z',
    metadata: { video: 'https://v' },
    cost: 0.0000475,
    usage: { input: 3, output: 4, total: 7 },
    errorCount: 1,
  })
  expect(outline(steps)).toEqual([
    'workflow session',
    '  agent qa',
    '  action search',
    '  action think',
    '  action bad · KeyError',
    '  llm gpt-4o',
    '  action shot',
  ])
  const named = (name: string) => steps.find((step) => step.name === name)!
  expect(named('search').tool).toEqual({ name: 'search', arguments: { q: 'hi' }, result: ['hi', 'r'] })
  expect(named('think').tool).toEqual({ name: 'think', arguments: { x: 1 }, result: 2 })
  expect(named('bad').error).toMatchObject({ message: "'k'", isHandled: true })
  expect(named('bad').error!.stack).toContain('in bad\n    def bad(): raise KeyError("k")')
  expect(named('shot').logs).toMatchObject([{ body: 'l', severity: 'info' }])
  expect(named('gpt-4o').messages).toMatchObject([
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'assistant', parts: [{ text: 'yo' }], isOutput: true },
  ])
  expect(answers.at(-1)).toEqual({
    path: '/v2/update_session',
    status: 200,
    answer: {
      status: 'success',
      token_cost: '0.0000475',
      session_url: `${server.url}/sessions/${session.id}?project=${project}`,
    },
  })
})

test('py0326: resending some or all requests does not change the session', async () => {
  const calls = agentOpsRecording('py0326')
  const [once, twice] = [await newProject(), await newProject()]

  await replay(calls, server.url, { 'x-playhead-project': once })
  const headers = { 'x-playhead-project': twice }
  await replay([...calls.slice(0, 4), ...calls, calls[3]!, calls[0]!], server.url, headers)

  const [first, second] = [await sessionsOf(once), await sessionsOf(twice)]
  const withoutUrl = ({ session, steps }: Session) => ({ ...session, url: '', steps })
  expect(first).toHaveLength(1)
  expect(second.map(withoutUrl)).toEqual(first.map(withoutUrl))
})

test('py0421: printed lines have the right offset in the session, in any time zone', async () => {
  const project = await newProject()
  const answers = await replay(agentOpsRecording('py0421'), server.url, { 'x-playhead-project': project })

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const [{ session, steps }] = (await sessionsOf(project)) as [Session]
  const logs = steps.flatMap((step) => step.logs ?? [])
  expect(logs.map(({ at, severity, body }) => [at, severity, body])).toEqual([
    ['2026-11-15T09:47:45.918Z', 'info', "init -> <class 'agentops.legacy.Session'>"],
    ['2026-11-15T09:47:46.419Z', 'info', 'hello from agent'],
  ])
  const log = await json(`/v4/logs/${BigInt(`0x${session.id}`)}`, {
    headers: { 'x-playhead-project': project },
  })
  expect(log.body).toEqual({
    content: expect.stringMatching(/ - INFO - hello from agent$/) as string,
    trace_id: session.id,
    freeplan_truncated: false,
  })
})

test.each([
  ['New York', -5 * 60],
  ['Kolkata', 5 * 60 + 30],
  ['Kathmandu', 5 * 60 + 45],
])('log lines with a clock in %s have the right offset', async (_city, offsetMinutes) => {
  const traceId = hex(16)
  const startMs = Date.UTC(2026, 5, 1, 12)
  const wallClock = new Date(startMs + 3_000 + offsetMinutes * 60_000)
  const stamp = wallClock.toISOString().replace('T', ' ').replace('.', ',').replace('Z', '')
  const text = `${stamp} - INFO - one\n  more of it\n${stamp} - WARNING - two\n${stamp} - WARNING - two\n`

  const headers = { 'trace-id': String(BigInt(`0x${traceId}`)) }
  for (const body of [{ body: text }, text])
    expect((await server.request('/v4/logs/upload/', { json: body, headers })).status).toBe(200)
  await server.postTraces(tracesPayload([{ traceId, startMs, endMs: startMs + 60_000 }]))

  const [root] = (await server.session(traceId)).steps
  expect(root!.logs!.map(({ offsetMs, severity, body }) => [offsetMs, severity, body])).toEqual([
    [3_000, 'info', 'one\n  more of it'],
    [3_000, 'warning', 'two'],
    [3_000, 'warning', 'two'],
  ])
  expect((await server.step(traceId, root!.id)).logs).toEqual(root!.logs)
})

test('an uploaded object is returned as a download that no page can execute', async () => {
  const uploaded = await json('/v4/objects/upload/', { json: { body: '<script>alert(1)</script>' } })
  expect(uploaded).toEqual({
    status: 200,
    body: {
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v4\/objects\/[0-9a-f]{64}$/) as string,
      size: 25,
    },
  })

  const read = await fetch(String(uploaded.body.url))
  expect(await read.text()).toBe('<script>alert(1)</script>')
  expect(read.headers.get('content-type')).toBe('application/octet-stream')
  expect(read.headers.get('content-disposition')).toBe('attachment')
  expect((await server.request('/v4/objects/..%2f..%2flock')).status).toBe(404)
})

describe('links', () => {
  test.each(['/sessions?trace_id=', '/drilldown?session_id='])('%s redirects to the replay', async (link) => {
    const [known, unknown, project] = [hex(16), hex(16), await newProject()]
    await server.request('/v1/traces', {
      json: tracesPayload([{ traceId: known }]),
      headers: { 'x-playhead-project': project },
    })
    const follow = async (id: string) =>
      (await server.request(`${link}${id}`, { redirect: 'manual' })).headers.get('location')

    expect(await follow(known)).toBe(`/sessions/${known}?project=${project}`)
    expect(await follow(unknown)).toBe(`/sessions/${unknown}`)
  })

  test('/sessions without a trace id is still the list', async () => {
    expect((await server.request('/sessions', { redirect: 'manual' })).status).toBe(200)
  })
})
