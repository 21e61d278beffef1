import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer } from './test-server.ts'

const server = await startTestServer()
afterAll(() => server.stop())

const at = (seconds: number) => `2026-06-01T12:00:0${seconds}.250000+00:00`

async function ask(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await server.request(path, body === undefined ? { headers } : { json: body, headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** A session as the SDK keeps it, with a function that posts to it. */
async function openSession(fields: Record<string, unknown> = {}) {
  const session = {
    session_id: randomUUID(),
    init_timestamp: at(0),
    end_timestamp: null,
    tags: [],
    ...fields,
  }
  const { body } = await ask('/v2/create_session', { session }, { 'x-agentops-api-key': randomUUID() })
  const headers = { authorization: `Bearer ${String(body.jwt)}` }
  return {
    session,
    id: session.session_id.replaceAll('-', ''),
    jwt: body.jwt,
    post: (path: string, payload: unknown) => ask(`/v2/${path}`, payload, headers),
  }
}

function event(type: string, fields: Record<string, unknown>) {
  return { id: randomUUID(), event_type: type, init_timestamp: at(1), end_timestamp: at(2), ...fields }
}

describe('events', () => {
  test('an error that names its event (0.2 to 0.3.19) becomes the error of that step, in either order', async () => {
    const tool = event('tools', { name: 'refund', params: { customer: null } })
    const error = {
      event_type: 'errors',
      trigger_event_id: tool.id,
      trigger_event_type: 'tools',
      error_type: 'ValueError',
      details: 'customer is None',
      logs: 'Traceback (most recent call last):\n  File "agent.py", line 3, in refund\nValueError: customer is None\n',
      timestamp: at(2),
    }
    for (const batches of [[[tool, error]], [[tool], [error]], [[error], [tool]]]) {
      const { id, post } = await openSession()
      for (const events of batches) await post('create_events', { events })

      const { session, steps } = await server.session(id)
      expect(steps.map(({ kind, name, status }) => [kind, name, status])).toEqual([
        ['workflow', 'session', 'running'],
        ['action', 'refund', 'error'],
      ])
      expect(steps[1]!.error).toMatchObject({
        type: 'ValueError',
        message: 'customer is None',
        stack: error.logs,
      })
      expect(session).toMatchObject({ errorCount: 1, endState: 'running' })
    }
  })

  test('an error without an event is a step of its own', async () => {
    const { id, post } = await openSession()
    const error = { error_type: 'Timeout', details: { after: '30s' }, logs: 'NoneType: None\n' }
    await post('create_events', { events: [event('errors', error)] })

    const [, step] = (await server.session(id)).steps
    expect(step).toMatchObject({ kind: 'event', name: 'Timeout', status: 'error' })
    expect(step!.error).toEqual({ type: 'Timeout', message: '{"after":"30s"}' })
  })

  test('an agent gets the steps that name it, and its name even if that arrives later', async () => {
    const { id, post } = await openSession()
    const agentId = randomUUID()
    await post('create_events', { events: [event('actions', { action_type: 'plan', agent_id: agentId })] })
    const before = (await server.session(id)).steps.map(({ kind, name }) => `${kind} ${name}`)
    await post('create_agent', { id: agentId, name: 'planner' })
    await post('create_events', {
      events: [
        event('tools', { name: 'search', agent_id: agentId, end_timestamp: at(4), init_timestamp: at(2) }),
      ],
    })

    const { session, steps } = await server.session(id)
    expect(before).toEqual(['workflow session', 'agent agent', 'action plan'])
    expect(session.agents).toEqual(['planner'])
    expect(steps.map(({ kind, name, offsetMs, durationMs }) => [kind, name, offsetMs, durationMs])).toEqual([
      ['workflow', 'session', 0, null],
      ['agent', 'planner', 1000, 3000],
      ['action', 'plan', 1000, 1000],
      ['action', 'search', 2000, 2000],
    ])
    expect(steps.slice(2).map(({ parentId }) => parentId)).toEqual([steps[1]!.id, steps[1]!.id])
  })

  test('updating an event does not create a second step', async () => {
    const { id, post } = await openSession()
    const call = event('llms', { model: 'gpt-4o', prompt: 'hi', end_timestamp: null })
    await post('create_events', { events: [call] })
    const open = (await server.session(id)).steps[1]!
    const update = {
      ...call,
      end_timestamp: at(3),
      completion: 'ho',
      prompt_tokens: 10,
      completion_tokens: 2,
    }
    await post('update_events', { events: [update] })

    const [, step, ...others] = (await server.session(id)).steps
    expect(open).toMatchObject({ status: 'running' })
    expect(others).toEqual([])
    expect(step).toMatchObject({
      status: 'ok',
      model: 'gpt-4o',
      durationMs: 2000,
      inputPreview: 'hi',
      outputPreview: 'ho',
      usage: { input: 10, output: 2, total: 12 },
      cost: 0.000045,
    })
  })

  test('cached tokens of a full response are counted, and a reported cost is kept', async () => {
    const { id, post } = await openSession()
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 600 },
    }
    const returns = { id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-4o', choices: [], usage }
    const counts = { prompt_tokens: 1000, completion_tokens: 10 }
    await post('create_events', {
      events: [
        event('llms', { model: 'gpt-4o', prompt: 'a', completion: 'b', returns, ...counts }),
        event('llms', {
          model: 'gpt-4o',
          prompt: 'c',
          completion: 'd',
          cost: 0.5,
          init_timestamp: at(3),
          ...counts,
          end_timestamp: at(4),
        }),
      ],
    })

    const [, first, second] = (await server.session(id)).steps
    expect(first!.usage).toMatchObject({ input: 1000, output: 10, cacheRead: 600 })
    // 400 at $2.50 and 600 at $1.25 a million in, 10 at $10 a million out.
    expect(first!.cost).toBeCloseTo(0.00185, 9)
    expect(second).toMatchObject({ cost: 0.5, costSource: 'reported' })
  })

  test('an invalid event is listed as rejected, and the others are stored', async () => {
    const { id, post } = await openSession()
    const old = event('tools', { name: 'old', init_timestamp: '1066-10-14T09:00:00Z' })

    expect(await post('create_events', { events: [event('tools', { name: 'ok' }), 7, old] })).toEqual({
      status: 200,
      body: {
        status: 'Success',
        rejected: [
          { item: 'event 1', reason: 'an event must be an object' },
          { item: 'event 2', reason: expect.stringContaining('is in the year 1066') as string },
        ],
      },
    })
    expect((await server.session(id)).steps).toHaveLength(2)
    expect(await post('create_events', { events: ['x'] })).toMatchObject({ status: 400 })
    expect(await post('create_events', {})).toMatchObject({
      status: 400,
      body: { message: 'The body has no "events" array.' },
    })
  })
})

describe('sessions', () => {
  test('replaced tags show once the session has ended, and analytics do not end it', async () => {
    const { id, session, post } = await openSession({ tags: ['a', 'b', 'c'], _session_url: '' })
    const analytics = { ...session, end_timestamp: at(3), end_state: 'Indeterminate', is_running: true }
    await post('update_session', { session: analytics })
    const running = await server.session(id)
    const ended = { ...session, tags: ['z'], end_timestamp: at(4), end_state: 'Fail', is_running: false }
    const answer = await post('update_session', { session: { ...ended, end_state_reason: 'no' } })

    expect(running.session.endState).toBe('running')
    expect((await server.session(id)).session).toMatchObject({
      endState: 'fail',
      endStateReason: 'no',
      tags: ['z'],
      durationMs: 4000,
    })
    expect(answer.body).toMatchObject({ token_cost: 'unknown', status: 'success' })
  })

  test('a session of 0.3.12 ends although its last update says that it runs', async () => {
    const { id, session, post } = await openSession({ stop_flag: '' })
    await post('update_session', {
      session: { ...session, end_timestamp: at(4), end_state: 'Indeterminate', is_running: true },
    })
    expect((await server.session(id)).session.endState).toBe('indeterminate')
  })

  test('a token can be renewed, and one without a session is told what to send', async () => {
    const { session, jwt } = await openSession()
    const key = { 'x-agentops-api-key': String(jwt).split('.')[0]! }

    expect((await ask('/v2/reauthorize_jwt', { session_id: session.session_id }, key)).body).toEqual({
      status: 'Success',
      jwt,
    })
    expect(await ask('/v2/create_agent', { id: 'x', name: 'y' }, key)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('The token names no session') as string },
    })
  })

  test('logs, threads and SDK errors are accepted', async () => {
    const { id, post } = await openSession()
    await post('update_logs', { logs: '2026-06-01 12:00:00,500 - INFO - hello\n' })

    expect((await post('create_thread', { id: randomUUID(), agent_id: null })).body).toBe('Success')
    expect((await post('developer_errors', { type: 'KeyError', message: 'x' })).body).toBe('Success')
    expect((await server.session(id)).steps[0]!.logs).toMatchObject([{ offsetMs: 250, body: 'hello' }])
  })

  test('stats and export describe the session', async () => {
    const { session, post } = await openSession({ tags: ['t'] })
    const counts = { prompt_tokens: 100, completion_tokens: 20 }
    await post('create_events', {
      events: [
        event('llms', { model: 'gpt-4o', prompt: 'hi', completion: 'ho', ...counts }),
        event('actions', { action_type: 'plan', params: { a: 1 }, returns: 'ok' }),
        event('tools', { name: 'search', params: { q: 'x' }, returns: [] }),
        event('errors', { error_type: 'KeyError', details: 'k', logs: 'Traceback…' }),
      ],
    })

    expect((await ask(`/v2/sessions/${session.session_id}/stats`)).body).toEqual({
      session_id: session.session_id,
      cost: '0.00045',
      events: 4,
      prompt_tokens: 100,
      completion_tokens: 20,
      errors: 1,
    })
    expect((await ask(`/v2/sessions/${session.session_id}/export`)).body).toMatchObject({
      session: { tags: ['t'], end_state: 'Running', token_cost: '0.00045' },
      actions: [{ name: 'plan', params: { a: 1 }, returns: 'ok' }],
      llms: [{ model: 'gpt-4o', prompt_tokens: 100, completion_tokens: 20, cost: 0.00045 }],
      tools: [{ name: 'search', params: { q: 'x' }, returns: [] }],
      errors: [{ error_type: 'KeyError', details: 'k', logs: 'Traceback…' }],
    })
  })
})

test('the public API returns a trace, its metrics, a span and the project', async () => {
  const { body } = await ask('/public/v1/auth/access_token', { api_key: randomUUID() })
  const headers = { authorization: `Bearer ${String(body.bearer)}` }
  const [traceId, root, call] = [hex(16), hex(8), hex(8)]
  const attributes = {
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.prompt_tokens': 1000,
    'gen_ai.usage.completion_tokens': 100,
    'gen_ai.prompt.0.content': 'hi',
    'gen_ai.prompt.99.content': 'far away',
  }
  const tags = { 'agentops.tags': ['x'], 'agentops.session.end_state': 'Success' }
  await server.postTraces(
    tracesPayload([
      { traceId, spanId: root, name: 'default.session', endMs: 1_700_000_000_500, attributes: tags },
      {
        traceId,
        spanId: call,
        parentSpanId: root,
        name: 'openai.chat',
        startMs: 1_700_000_000_100,
        endMs: 1_700_000_000_250,
        attributes,
      },
    ]),
  )

  expect((await ask('/public/v1/project', undefined, headers)).body).toEqual({
    id: 'default',
    name: 'Default',
    environment: 'production',
  })
  expect((await ask(`/public/v1/traces/${traceId}`, undefined, headers)).body).toMatchObject({
    trace_id: traceId,
    project_id: 'default',
    tags: ['x'],
    spans: [
      { span_id: root, parent_span_id: null, span_name: 'default.session', duration: 500_000_000 },
      {
        span_id: call,
        parent_span_id: root,
        span_kind: 'SPAN_KIND_INTERNAL',
        start_time: '2023-11-14T22:13:20.100Z',
        end_time: '2023-11-14T22:13:20.250Z',
        status_code: 'UNSET',
        status_message: '',
      },
    ],
  })
  expect((await ask(`/public/v1/traces/${traceId}/metrics`, undefined, headers)).body).toEqual({
    span_count: 2,
    trace_count: 1,
    success_count: 1,
    fail_count: 0,
    indeterminate_count: 0,
    prompt_tokens: 1000,
    completion_tokens: 100,
    cache_read_input_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 1100,
    prompt_cost: '0.0025000',
    completion_cost: '0.0010000',
    average_cost_per_trace: '0.0035000',
    total_cost: '0.0035000',
  })
  const span = (await ask(`/public/v1/spans/${call}`, undefined, headers)).body
  expect(span).toMatchObject({ trace_id: traceId, service_name: 'test', attributes })
  expect(span.span_attributes).toEqual({
    gen_ai: {
      request: { model: 'gpt-4o' },
      usage: { prompt_tokens: 1000, completion_tokens: 100 },
      prompt: [{ content: 'hi' }],
    },
  })
  expect((await ask(`/public/v1/spans/${call}/metrics`, undefined, headers)).body).toMatchObject({
    total_tokens: 1100,
    total_cost: '0.0035000',
  })
  expect((await ask(`/public/v1/spans/${hex(8)}`, undefined, headers)).status).toBe(404)
})
