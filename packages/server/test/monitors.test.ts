import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { MonitorPreview, WatchedMonitorResponse } from '../src/api/schemas/monitors.ts'
import { startEngineOverHttp } from './engine-over-http.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let projects = 0
async function freshProject(): Promise<string> {
  const id = `m${(projects += 1)}`
  await server.services.registry.createProject({ id, name: id })
  return id
}

async function send(project: string, ...sessions: Parameters<typeof session>[0][]): Promise<string[]> {
  const ids = sessions.map(({ traceId }) => traceId ?? hex(16))
  const spans = sessions.flatMap((options, index) => session({ ...options, traceId: ids[index]! }))
  await server.request('/v1/traces', {
    json: tracesPayload(spans),
    headers: { 'x-playhead-project': project },
  })
  await server.services.drain()
  await server.services.findings.computeAll(project, ids)
  return ids
}

async function create(project: string, body: object, on = server): Promise<WatchedMonitorResponse> {
  const response = await on.request(`/api/monitors?project=${project}`, { json: body })
  const text = await response.text()
  expect({ status: response.status, text }).toMatchObject({ status: 201 })
  return JSON.parse(text) as WatchedMonitorResponse
}

async function stateOf(project: string, id: string, on = server): Promise<WatchedMonitorResponse> {
  const response = await on.request(`/api/monitors?project=${project}`)
  const { monitors } = (await response.json()) as { monitors: WatchedMonitorResponse[] }
  return monitors.find(({ monitor }) => monitor.id === id)!
}

const rule = (given: object, more: object = {}) => ({
  kind: 'rule',
  rule: given,
  windowMs: HOUR,
  sessions: 1,
  ...more,
})

test.each([
  ['as it is remembered', false],
  ['as it is stored', true],
])(
  'a rule fires at the step that broke it, and is good again when late spans arrive, %s',
  async (_, isForgotten) => {
    const project = await freshProject()
    const now = Date.now()
    const condition = rule({ kind: 'never', action: 'issue_refund', before: 'verify_identity' })
    const created = await create(project, { name: 'Refund without identity!', condition })
    expect(created).toMatchObject({
      monitor: { id: 'refund-without-identity', filter: {}, forMs: 0 },
      sentence: 'a session within 1h breaks: never issue_refund before verify_identity',
      state: 'normal',
    })
    const [id] = await send(project, { tool: 'issue_refund', startMs: now - 10 * MINUTE })
    await server.services.monitorLoop.evaluate(now)

    const fired = await stateOf(project, 'refund-without-identity')
    expect(fired).toMatchObject({ state: 'firing', value: 1, examples: [{ sessionId: id }] })
    const { steps } = await server.session(id!, `project=${project}`)
    const refund = steps.find(({ kind }) => kind === 'action')!
    expect(fired.examples[0]?.stepId).toBe(refund.id)
    expect(fired.examples[0]?.url).toContain(`/sessions/${id}`)
    expect(fired.examples[0]?.url).toContain(`step=${refund.id}`)

    if (isForgotten) server.services.ruleResults.forgetAll()
    // The span of the action that came first arrives last.
    const startMs = now - 10 * MINUTE + 10
    const late = {
      traceId: id!,
      parentSpanId: steps[0]!.id,
      name: 'execute_tool verify_identity',
      startMs,
      endMs: startMs + 5,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'verify_identity' },
    }
    await server.request('/v1/traces', {
      json: tracesPayload([late]),
      headers: { 'x-playhead-project': project },
    })
    await server.services.drain()
    await server.services.findings.computeAll(project, [id!])
    await server.services.monitorLoop.evaluate(now)
    expect(await stateOf(project, 'refund-without-identity')).toMatchObject({ state: 'normal', value: 0 })
  },
)

test('rules are checked while a session runs: a forbidden call, and a session that takes too long', async () => {
  const project = await freshProject()
  const { running, monitorLoop, drain } = server.services
  await create(project, { name: 'never', condition: rule({ kind: 'never', action: 'issue_refund' }) })
  await create(project, { name: 'slow', condition: rule({ kind: 'duration', atMostMs: 60_000 }) })
  await create(project, { name: 'always', condition: rule({ kind: 'always', action: 'say_goodbye' }) })
  await create(project, { name: 'errors', condition: rule({ kind: 'no-errors' }) })
  const startMs = Date.now() - 20_000
  const traceId = hex(16)
  const [root, call, action] = session({ traceId, tool: 'issue_refund', startMs, error: 'not handled yet' })
  const { endMs: _, status: __, ...open } = root!
  const post = (spans: unknown[]) =>
    server.request('/v1/traces', {
      json: tracesPayload(spans as never),
      headers: { 'x-playhead-project': project },
    })
  await post([open, call, action])
  await drain()
  const states = async (atMs: number) => {
    await running.check(atMs)
    await monitorLoop.evaluate(atMs)
    const found = ['never', 'slow', 'always', 'errors'].map((id) => stateOf(project, id))
    return (await Promise.all(found)).map(({ state }) => state).join(' ')
  }
  const stored = await server.session(traceId, `project=${project}`)
  expect(stored.session.endState).toBe('running')
  expect(await states(startMs + 30_000)).toBe('firing normal normal normal')
  expect((await stateOf(project, 'never')).examples).toMatchObject([
    { sessionId: traceId, stepId: stored.steps.find(({ kind }) => kind === 'action')!.id },
  ])
  // Nothing arrives any more.
  expect(await states(startMs + 70_000)).toBe('firing firing normal normal')
  await post([{ ...root, endMs: startMs + 71_000 }])
  await drain()
  await server.services.findings.computeAll(project, [traceId])
  expect(await states(startMs + 72_000)).toBe('firing firing firing firing')
})

test('every kind of rule judges stored sessions as its preview estimates', async () => {
  const project = await freshProject()
  const startMs = Date.now() - 10 * MINUTE
  const [good, bad] = await send(
    project,
    { startMs, tool: 'lookup', tokens: [10, 1], durationMs: 600 },
    { startMs, tool: 'delete_all', tokens: [9_000_000, 10], durationMs: 90_000, error: 'no such row' },
  )
  await server.request(`/api/sessions/${bad}/scores?project=${project}`, {
    json: { name: 'helpful', value: 0.1 },
  })
  await server.request(`/api/sessions/${good}/scores?project=${project}`, {
    json: { name: 'helpful', value: 1 },
  })
  const rules = [
    { kind: 'never', action: 'delete_all' },
    { kind: 'always', action: 'lookup' },
    { kind: 'only', actions: ['lookup'] },
    { kind: 'cost', atMost: 0.05 },
    { kind: 'duration', atMostMs: 60_000 },
    { kind: 'no-errors' },
    { kind: 'no-finding', findings: ['error'] },
    { kind: 'score', name: 'helpful', atLeast: 0.5 },
  ]
  for (const given of rules) await create(project, { name: given.kind, condition: rule(given) })
  await server.services.drain()
  await server.services.findings.computeAll(project, [good!, bad!])
  await server.services.monitorLoop.evaluate(Date.now())
  for (const { kind } of rules) {
    const { state, examples } = await stateOf(project, kind)
    const response = await server.request(`/api/monitors/${kind}/preview?project=${project}`)
    const preview = (await response.json()) as MonitorPreview
    expect({ kind, state, sessions: examples.map(({ sessionId }) => sessionId) }).toEqual({
      kind,
      state: 'firing',
      sessions: [bad],
    })
    expect({ kind, now: preview.fired.at(-1)?.to, most: preview.points.at(-1)?.value }).toEqual({
      kind,
      now: null,
      most: 1,
    })
  }
})

test('a rate needs enough sessions and a whole interval; silence and issues fire too', async () => {
  const project = await freshProject()
  const now = Date.now()
  const rate = { kind: 'rate', measure: 'failure-rate', is: 'above', limit: 0.3, windowMs: HOUR, minimum: 4 }
  await create(project, { name: 'failures', condition: rate })
  await create(project, {
    name: 'count',
    condition: { ...rate, measure: 'count', limit: 20, minimum: 0 },
    filter: { tag: 'vip' },
  })
  await create(project, { name: 'silence', condition: { kind: 'silence', windowMs: 30 * MINUTE } })
  await create(project, { name: 'issue', condition: { kind: 'issue', windowMs: HOUR } })
  const states = async (atMs = now) => {
    await server.services.monitorLoop.evaluate(atMs)
    const found = ['failures', 'count', 'silence', 'issue'].map((id) => stateOf(project, id))
    return (await Promise.all(found)).map(({ state }) => state).join(' ')
  }
  expect(await states()).toBe('no-data normal no-data normal')
  const at = (count: number, error?: string) =>
    Array.from({ length: count }, (_, index) => ({
      startMs: now - 5 * MINUTE - index,
      ...(error !== undefined && { error }),
    }))
  await send(project, ...at(2, 'order 17 is locked'), ...at(2))
  // Two of four prove nothing, but it is a new issue.
  expect(await states()).toBe('normal normal normal firing')
  await send(project, ...at(18, 'order 18 is locked'))
  expect(await states()).toBe('firing normal normal firing')
  // Both lead to the failing step.
  const [failures, issue] = [await stateOf(project, 'failures'), await stateOf(project, 'issue')]
  expect(failures.examples).toHaveLength(3)
  for (const { sessionId, stepId, url } of [...failures.examples, ...issue.examples]) {
    const { steps } = await server.session(sessionId, `project=${project}`)
    const failing = steps.find(({ kind }) => kind === 'action')!.id
    expect({ stepId, step: new URL(url).searchParams.get('step') }).toEqual({
      stepId: failing,
      step: failing,
    })
  }
  expect(await states(now + 2 * HOUR)).toBe('no-data normal firing normal')
})

test('a store that fails makes an error, never a resolution, and no monitor is lost', async () => {
  const engine = await startEngineOverHttp()
  onTestFinished(() => engine.stop())
  const other = await startTestServer({ CLICKHOUSE_URL: engine.url })
  onTestFinished(() => other.stop())
  const now = Date.now()
  const traceId = hex(16)
  await other.postTraces(tracesPayload(session({ traceId, tool: 'delete_all', startMs: now - MINUTE })))
  await create('default', { name: 'r', condition: rule({ kind: 'never', action: 'delete_all' }) }, other)
  await other.services.drain()
  await other.services.findings.computeAll('default', [traceId])
  const { monitorLoop } = other.services
  await monitorLoop.evaluate(now)
  expect((await stateOf('default', 'r', other)).state).toBe('firing')

  // Another server on the same store leaves the work to the one that was there first.
  const second = await startTestServer({ CLICKHOUSE_URL: engine.url })
  onTestFinished(() => second.stop())
  const before = JSON.stringify(second.services.monitors.all())
  await second.services.monitorLoop.evaluate(now + HOUR * 3)
  expect(JSON.stringify(second.services.monitors.all())).toBe(before)

  const { client } = other.services.store
  const query = client.query.bind(client)
  client.query = () => Promise.reject(new Error('connect ECONNREFUSED'))
  for (let minute = 0; minute < 60; minute += 15) await monitorLoop.evaluate(now + minute * MINUTE)
  expect(other.services.monitors.find('default', 'r').status).toMatchObject({
    state: 'error',
    certain: 'firing',
    problem: 'connect ECONNREFUSED',
  })
  client.query = query
  await monitorLoop.evaluate(now + 30 * MINUTE)
  expect(await stateOf('default', 'r', other)).toMatchObject({ state: 'firing' })
  expect(await stateOf('default', 'r', other)).not.toHaveProperty('problem')
  await monitorLoop.evaluate(now + 2 * HOUR)
  expect((await stateOf('default', 'r', other)).state).toBe('normal')
})

test('monitors are changed, paused and deleted; nonsense is refused; a restart keeps their state', async () => {
  const project = await freshProject()
  const condition = rule({ kind: 'never', action: 'delete_all' })
  const { monitor } = await create(project, { name: 'Same name', condition, forMs: MINUTE })
  expect((await create(project, { name: 'Same name', condition })).monitor.id).toBe('same-name-2')
  const change = async (body: unknown, id = monitor.id) =>
    server.request(`/api/monitors/${id}?project=${project}`, { method: 'PATCH', json: body })
  expect(await (await change({ isPaused: true })).json()).toMatchObject({ state: 'paused' })
  expect(await (await change({ isPaused: false })).json()).toMatchObject({ state: 'normal' })
  const statusOf = async (body: unknown) =>
    (await server.request(`/api/monitors?project=${project}`, { json: body })).status
  expect({
    noCondition: await statusOf({ name: 'x' }),
    unknownKind: await statusOf({ name: 'x', condition: { kind: 'mood' } }),
    scoreless: await statusOf({
      name: 'x',
      condition: { kind: 'rate', measure: 'score', is: 'below', limit: 1, windowMs: HOUR, minimum: 1 },
    }),
    shortWindow: await statusOf({ name: 'x', condition: { ...condition, windowMs: 5 } }),
    filter: await statusOf({ name: 'x', condition, filter: { weather: 'nice' } }),
    missing: (await change({}, 'nobody')).status,
  }).toEqual({
    noCondition: 400,
    unknownKind: 400,
    scoreless: 400,
    shortWindow: 400,
    filter: 400,
    missing: 404,
  })
  await server.services.monitors.reload()
  expect((await stateOf(project, monitor.id)).state).toBe('normal')
  await server.request(`/api/monitors/${monitor.id}?project=${project}`, { method: 'DELETE' })
  expect(await stateOf(project, monitor.id)).toBeUndefined()
})

test('a preview shows when a rate would have fired in the last 30 days', async () => {
  const project = await freshProject()
  const now = Date.now()
  const at = (daysAgo: number, count: number, error?: string) =>
    Array.from({ length: count }, (_, index) => ({
      startMs: now - daysAgo * DAY + index * 1_000,
      ...(error !== undefined && { error }),
    }))
  await send(project, ...at(20, 20), ...at(10, 20, 'broken'), ...at(5, 20))
  const response = await server.request(`/api/monitors/preview?project=${project}`, {
    json: {
      name: 'failures',
      condition: {
        kind: 'rate',
        measure: 'failure-rate',
        is: 'above',
        limit: 0.5,
        windowMs: HOUR,
        minimum: 10,
      },
    },
  })
  const { fired, points } = (await response.json()) as MonitorPreview
  expect(fired).toHaveLength(1)
  expect(Math.abs(Date.parse(fired[0]!.from) - (now - 10 * DAY))).toBeLessThan(HOUR)
  expect(points.filter(({ isBad }) => isBad).length).toBeGreaterThan(0)
  expect(points.length).toBeLessThanOrEqual(720)
})
