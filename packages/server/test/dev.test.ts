import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Job } from '../src/api/schemas/dev.ts'
import { responseSchemas, type ApiResponses } from '../src/api/schemas/responses.ts'
import { openEvents } from './event-stream.ts'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import type { TestServer } from './test-server.ts'
import { startTestServer } from './test-server.ts'

let server: TestServer
const sessionId = hex(16)
const stepId = hex(8)
const spans = () =>
  session({ traceId: sessionId }).map((span, index) => (index === 1 ? { ...span, spanId: stepId } : span))

beforeAll(async () => {
  server = await startTestServer()
  await server.postTraces(tracesPayload(spans()))
})
afterAll(() => server.stop())

type Headers = Record<string, string>

/** A terminal, as `playhead dev` connects it. */
async function startRunner(to: TestServer, headers: Headers = {}, secret = hex(16)) {
  const url = `${to.url}/api/dev/runner?agent=support&agent=billing&host=laptop&pid=7&version=1.2.3`
  const own = { ...headers, 'x-playhead-runner': secret }
  const open = async (more: Headers = {}) => {
    const stream = await openEvents(url, { ...own, ...more })
    onTestFinished(() => stream.close())
    return stream
  }
  const stream = await open()
  return {
    ...stream,
    secret,
    reconnect: (lastEventId: string) => open({ 'last-event-id': lastEventId }),
    report: (jobId: string, json: unknown) =>
      to.request(`/api/dev/jobs/${jobId}/events`, { json, headers: own }),
  }
}

/** Pairs a browser with the runner; returns the headers that it sends from then on. */
async function pair(
  to: TestServer,
  runner: { waitFor(name: string): Promise<object> },
  headers: Headers = {},
) {
  const { code } = (await runner.waitFor('code')) as { code: string }
  const response = await to.request('/api/dev/pair', { json: { code }, headers })
  const body = (await response.json()) as ApiResponses['POST /api/dev/pair']
  expect(responseSchemas['POST /api/dev/pair'].parse(body)).toEqual(body)
  return { code, runner: body.runner, headers: { ...headers, 'x-playhead-pairing': body.token } }
}

const jobWith = (more: object = {}) => ({
  jobId: hex(8),
  sessionId,
  stepId,
  edit: { result: 'c_42' },
  ...more,
})

const submit = async (to: TestServer, job: object, headers: Headers) => {
  const response = await to.request('/api/dev/jobs', { json: job, headers })
  return { status: response.status, body: (await response.json()) as Job & { error?: { message: string } } }
}

const line = {
  parent: sessionId,
  session: 'b'.repeat(32),
  lane: 'fork',
  verdict: 'diverged',
  endState: 'success',
  parentEndState: 'fail',
  calls: { taped: 3, live: 2, stubbed: 1 },
  divergence: { step: 5, sentence: 'step 5 returned "c_42" instead of null' },
  misses: [],
  costUsd: 0.0013,
} as const

test('a paired browser starts a job in the terminal and hears how it goes on', async () => {
  const runner = await startRunner(server)
  const browser = await pair(server, runner)
  const page = await openEvents(`${server.url}/api/live?only=job`)
  onTestFinished(() => page.close())
  expect(browser.runner).toMatchObject({
    host: 'laptop',
    pid: 7,
    version: '1.2.3',
    agents: ['support', 'billing'],
  })

  const job = jobWith()
  const submitted = await submit(server, job, browser.headers)
  expect(submitted).toEqual({
    status: 202,
    body: { jobId: job.jobId, sessionId, stepId, state: 'queued', sessionIds: [], lines: [] },
  })
  expect(await runner.waitFor('job')).toEqual({ ...job, times: 1 })
  const [first, second] = ['b'.repeat(32), 'c'.repeat(32)]
  for (const event of [
    { state: 'accepted' },
    { state: 'started', sessionId: first },
    { state: 'started', line },
    { state: 'started', sessionId: second },
    { state: 'finished', sentence: 'It was canceled.' },
  ])
    expect((await runner.report(job.jobId, event)).status).toBe(200)

  await page.waitFor('job', 6)
  expect(page.events.map(({ data }) => data.state)).toEqual([
    'queued',
    'accepted',
    'started',
    'started',
    'started',
    'finished',
  ])
  const finished = {
    jobId: job.jobId,
    sessionId,
    stepId,
    state: 'finished',
    sessionIds: [first, second],
    lines: [line],
    sentence: 'It was canceled.',
  }
  expect(page.events.at(-1)!.data).toEqual(finished)
  const state = await (await server.request('/api/dev', { headers: browser.headers })).json()
  expect(responseSchemas['GET /api/dev'].parse(state)).toEqual({
    runners: [browser.runner],
    jobs: [finished],
  })
  expect((await runner.report(job.jobId, { state: 'started' })).status).toBe(409)
})

test('a page of another origin can neither pair, nor ask, nor start a job', async () => {
  const runner = await startRunner(server)
  const { headers } = await pair(server, runner)
  const foreign = { ...headers, origin: 'https://evil.example' }
  const { code } = (await runner.waitFor('code', 2)) as { code: string }

  const refused = await Promise.all([
    server.request('/api/dev', { headers: foreign }),
    server.request('/api/dev/pair', { json: { code }, headers: foreign }),
    server.request('/api/dev/jobs', { json: jobWith(), headers: foreign }),
    server.request('/api/dev/jobs/12345678', { method: 'DELETE', headers: foreign }),
    server.request('/api/dev/runner?host=h&pid=1&version=1', {
      headers: { ...foreign, 'x-playhead-runner': hex(16) },
    }),
  ])

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect(runner.events.filter(({ name }) => name === 'job')).toEqual([])
  expect((await submit(server, jobWith(), { ...headers, origin: server.url })).status).toBe(202)
})

test('a browser that is not paired gets no runner, and starts nothing', async () => {
  const runner = await startRunner(server)
  const { code, headers } = await pair(server, runner)
  const used = await server.request('/api/dev/pair', { json: { code } })
  const stranger = { 'x-playhead-pairing': hex(16) }

  expect(used.status).toBe(403)
  for (const unpaired of [{}, stranger, { 'x-playhead-pairing': ',' }] as Headers[]) {
    const seen = await server.request('/api/dev', { headers: unpaired })
    expect(await seen.json()).toEqual({ runners: [], jobs: [] })
    const { status, body } = await submit(server, jobWith(), unpaired)
    expect([status, body.error?.message]).toEqual([409, expect.stringContaining('npx playhead dev')])
  }
  const job = jobWith()
  await submit(server, job, headers)
  const canceled = await server.request(`/api/dev/jobs/${job.jobId}`, { method: 'DELETE', headers: stranger })
  const reported = await server.request(`/api/dev/jobs/${job.jobId}/events`, {
    json: { state: 'accepted' },
    headers: { 'x-playhead-runner': hex(16) },
  })
  expect([canceled.status, reported.status]).toEqual([404, 404])
  expect(runner.events.map(({ name }) => name)).toEqual(['code', 'code', 'job'])
})

test('the same job twice is handed over once', async () => {
  const runner = await startRunner(server)
  const { headers } = await pair(server, runner)
  const job = jobWith()

  const [first, second] = await Promise.all([submit(server, job, headers), submit(server, job, headers)])
  const accepted = await Promise.all([1, 2].map(() => runner.report(job.jobId, { state: 'accepted' })))
  const third = await submit(server, job, headers)

  expect([first.status, second.status, third.status]).toEqual([202, 202, 202])
  expect(third.body.state).toBe('accepted')
  expect(new Set(accepted.map(({ status }) => status))).toEqual(new Set([200, 409]))
  await runner.waitFor('job')
  expect(runner.events.filter(({ name }) => name === 'job')).toHaveLength(1)
})

test('a job names a session and step that exist, and nothing but data', async () => {
  const runner = await startRunner(server)
  const { headers } = await pair(server, runner)

  const statuses = []
  for (const more of [
    { sessionId: hex(16) },
    { stepId: hex(8) },
    { jobId: '../../x' },
    { times: 1_000 },
    { edit: { system: { toString: 'x' } } },
    { sessionId: 'last' },
  ])
    statuses.push((await submit(server, jobWith(more), headers)).status)
  expect(statuses).toEqual([404, 404, 400, 400, 400, 400])
  const extra = jobWith({ allowWrites: ['issue_refund'], budget: 100, env: { A: 'b' }, edit: { code: '1' } })
  expect((await submit(server, extra, headers)).status).toBe(202)
  expect(await runner.waitFor('job')).toEqual({ jobId: extra.jobId, sessionId, stepId, edit: {}, times: 1 })
})

test('a runner that reconnects keeps its pairings and gets what it missed', async () => {
  const runner = await startRunner(server)
  const { headers } = await pair(server, runner)
  const job = jobWith()
  await submit(server, job, headers)
  await runner.waitFor('job')
  const [seen] = runner.events.map(({ id }) => id).slice(-1)
  runner.close()

  const missed = jobWith()
  await submit(server, missed, headers)
  const again = await runner.reconnect(seen!)

  expect(await again.waitFor('job')).toEqual({ ...missed, times: 1 })
  expect(again.events).toHaveLength(1)
})

test('a job can be canceled, before and after the terminal took it', async () => {
  const runner = await startRunner(server)
  const { headers } = await pair(server, runner)
  const [early, late] = [jobWith(), jobWith()]
  const cancel = async ({ jobId }: { jobId: string }) => {
    const response = await server.request(`/api/dev/jobs/${jobId}`, { method: 'DELETE', headers })
    return ((await response.json()) as Job).state
  }
  await submit(server, early, headers)
  await submit(server, late, headers)
  await runner.report(late.jobId, { state: 'accepted' })

  expect([await cancel(early), await cancel(late)]).toEqual(['refused', 'accepted'])
  expect(await runner.waitFor('cancel')).toEqual({ jobId: late.jobId })
  expect((await runner.report(early.jobId, { state: 'accepted' })).status).toBe(409)
})

test('with auth, keys of other scopes and projects are refused', async () => {
  const { server: locked, cookie, keys } = await startLockedServer()
  onTestFinished(() => locked.stop())
  const makeKey = async (project: string, scopes: string[]) => {
    const json = { name: scopes.join(), scopes }
    const created = await locked.request(`/api/keys?project=${project}`, { json, headers: { cookie } })
    return bearer(((await created.json()) as { secret: string }).secret)
  }
  const send = { json: tracesPayload(spans()), headers: bearer(keys.a) }
  expect((await locked.request('/v1/traces', send)).status).toBe(200)
  const weak = [
    await makeKey('a', ['read']),
    await makeKey('a', ['ingest']),
    await makeKey('a', ['read', 'ingest']),
  ]
  for (const headers of [...weak, {}] as Headers[]) {
    const { status } = await startRunner(locked, headers)
    expect(status).toBe('authorization' in headers ? 403 : 401)
  }
  const runner = await startRunner(locked, bearer(keys.a))
  const person = { cookie, 'x-playhead-project': 'a' }
  const browser = await pair(locked, runner, person)
  const audit = await locked.request('/api/audit?project=a&action=terminal.paired', { headers: { cookie } })
  expect(await audit.json()).toMatchObject({
    entries: [
      { action: 'terminal.paired', project: 'a', caller: { kind: 'person' }, subject: 'laptop, process 7' },
    ],
  })
  // The terminal did not name a project: its key has one, and the link that it prints needs it.
  expect(await runner.waitFor('code')).toMatchObject({ project: 'a' })
  const token = { 'x-playhead-pairing': browser.headers['x-playhead-pairing'] }
  const { code } = (await runner.waitFor('code', 2)) as { code: string }

  for (const headers of weak) {
    expect((await submit(locked, jobWith(), { ...headers, ...token })).status).toBe(403)
    expect((await locked.request('/api/dev', { headers: { ...headers, ...token } })).status).toBe(403)
    expect((await locked.request('/api/dev/pair', { json: { code }, headers })).status).toBe(403)
  }
  expect((await submit(locked, jobWith(), token)).status).toBe(401)
  const other = bearer(keys.b)
  expect((await locked.request('/api/dev/pair', { json: { code }, headers: other })).status).toBe(403)
  expect((await submit(locked, jobWith(), { ...other, ...token })).status).toBe(404)
  expect((await submit(locked, jobWith(), { ...other, ...token, 'x-playhead-project': 'a' })).status).toBe(
    403,
  )
  const seen = await locked.request('/api/dev', { headers: { ...other, ...token } })
  expect(await seen.json()).toEqual({ runners: [], jobs: [] })
  expect(runner.events.filter(({ name }) => name === 'job')).toEqual([])

  const job = jobWith()
  expect((await submit(locked, job, browser.headers)).status).toBe(202)
  const stolen = await locked.request(`/api/dev/jobs/${job.jobId}/events`, {
    json: { state: 'accepted' },
    headers: { ...other, 'x-playhead-runner': runner.secret },
  })
  expect(stolen.status).toBe(404)
  expect((await runner.report(job.jobId, { state: 'accepted' })).status).toBe(200)
})
