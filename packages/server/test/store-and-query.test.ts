import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { applyRetention } from '../src/maintenance/retention.ts'
import { startEngineOverHttp } from './engine-over-http.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const NOW = Date.now()
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A session of an agent, a call to a model and an action. */
function session(options: {
  traceId?: string
  startMs?: number
  name?: string
  model?: string
  tool?: string
  tags?: string[]
  tokens?: [number, number]
  durationMs?: number
  error?: string
  user?: string
  thread?: string
  prompt?: string
  more?: Record<string, unknown>
}): SpanOptions[] {
  const traceId = options.traceId ?? hex(16)
  const root = hex(8)
  const startMs = options.startMs ?? NOW - HOUR
  const endMs = startMs + (options.durationMs ?? 1_000)
  const [input, output] = options.tokens ?? [100, 10]
  return [
    {
      traceId,
      spanId: root,
      name: `invoke_agent ${options.name ?? 'support'}`,
      startMs,
      endMs,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': options.name ?? 'support',
        'playhead.session.name': options.name ?? 'support',
        'playhead.session.tags': options.tags ?? [],
        ...(options.user !== undefined && { 'user.id': options.user }),
        ...(options.thread !== undefined && { 'session.id': options.thread }),
        ...options.more,
      },
      ...(options.error !== undefined && { status: { code: 2, message: options.error } }),
    },
    {
      traceId,
      parentSpanId: root,
      name: 'chat',
      startMs: startMs + 1,
      endMs: startMs + 301,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': options.model ?? 'gpt-4o',
        'gen_ai.response.id': hex(8),
        'gen_ai.usage.input_tokens': input,
        'gen_ai.usage.output_tokens': output,
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', parts: [{ type: 'text', content: options.prompt ?? 'hello\nworld' }] },
        ]),
      },
    },
    {
      traceId,
      parentSpanId: root,
      name: `execute_tool ${options.tool ?? 'lookup'}`,
      startMs: startMs + 400,
      endMs: startMs + 500,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': options.tool ?? 'lookup',
        'gen_ai.tool.call.arguments': '{"id":42}',
      },
      ...(options.error !== undefined && {
        status: { code: 2, message: options.error },
        events: [
          {
            name: 'exception',
            timeMs: startMs + 499,
            attributes: { 'exception.type': 'ValueError', 'exception.message': options.error },
          },
        ],
      }),
    },
  ]
}

describe.each(['the embedded engine', 'CLICKHOUSE_URL'])('with %s', (kind) => {
  let server: TestServer
  let stopEngine = async () => {}
  let project = ''
  let projects = 0

  beforeAll(async () => {
    if (kind === 'CLICKHOUSE_URL') {
      const engine = await startEngineOverHttp()
      stopEngine = () => engine.stop()
      server = await startTestServer({ CLICKHOUSE_URL: engine.url })
    } else server = await startTestServer()
  })
  afterAll(async () => {
    await server.stop()
    await stopEngine()
  })

  async function freshProject(): Promise<void> {
    project = `q${(projects += 1)}`
    await server.services.registry.createProject({ id: project, name: project })
  }
  async function post(...spans: SpanOptions[][]): Promise<void> {
    const response = await server.request('/v1/traces', {
      json: tracesPayload(spans.flat()),
      headers: { 'x-playhead-project': project },
    })
    expect(await response.json()).toEqual({})
  }
  async function names(query: string): Promise<string[]> {
    return (await server.sessions(`project=${project}&${query}`)).map(({ name }) => name)
  }
  async function stats(query: string) {
    return (await (await server.request(`/api/stats?project=${project}&${query}`)).json()) as {
      total: number
      fail: number
      failureRate: number | null
      cost: number | null
      usage: Record<string, number>
      durationMs: Record<string, number | null>
      buckets: { at: string; total: number }[]
      groups: {
        key: string
        total: number
        fail: number
        calls?: number
        failedCalls?: number
        cost: number | null
        usage: Record<string, number>
        durationMs: { p50: number }
        example?: { message: string }
      }[]
    }
  }

  describe('the list', () => {
    beforeAll(async () => {
      await freshProject()
      await post(
        session({
          name: 'alpha',
          startMs: NOW - 1 * HOUR,
          tags: ['x', 'y'],
          model: 'gpt-4o',
          tool: 'search',
          user: 'ann',
          thread: 't1',
          prompt: 'I was charged twice',
        }),
        session({
          name: 'beta',
          startMs: NOW - 2 * DAY,
          tags: ['y'],
          model: 'claude-sonnet-4-5',
          tool: 'refund',
          error: 'customer_id cannot be null',
          durationMs: 5_000,
          tokens: [9_000, 900],
        }),
        session({
          name: 'gamma',
          startMs: NOW - 40 * DAY,
          model: 'my-own-model',
          tool: 'search',
          prompt: 'Le café\nétait fermé',
          durationMs: 70_000,
        }),
        session({
          name: 'delta',
          startMs: NOW - 400 * DAY,
          tags: ['old'],
          user: 'bob',
          more: {
            'vcs.ref.head.name': 'main',
            'playhead.test.name': 'refunds work',
            'playhead.test.suite': 'billing',
            'playhead.test.run_id': 'r1',
          },
          prompt: JSON.stringify('caf\u00e9').replace('é', '\\u00e9'),
        }),
      )
    })

    test('is newest first over any stretch of time', async () => {
      expect(await names('')).toEqual(['alpha', 'beta', 'gamma', 'delta'])
    })

    test.each([
      ['status=fail', ['beta']],
      ['status=success', ['alpha', 'gamma', 'delta']],
      ['status=fail&status=success&limit=2', ['alpha', 'beta']],
      ['tag=y', ['alpha', 'beta']],
      ['tag=x&tag=y', ['alpha']],
      ['model=claude-sonnet-4-5', ['beta']],
      ['tool=search', ['alpha', 'gamma']],
      ['agent=gamma', ['gamma']],
      ['name=ALPH', ['alpha']],
      ['user=bob', ['delta']],
      ['thread=t1', ['alpha']],
      ['branch=main', ['delta']],
      ['test=refunds work', ['delta']],
      ['test=billing > refunds work', ['delta']],
      ['runId=r1', ['delta']],
      ['error=ValueError', ['beta']],
      ['cost=>0.01', ['beta']],
      ['cost=<=0.01', ['alpha', 'delta']],
      ['duration=>2s', ['beta', 'gamma']],
      ['duration=2s..10s', ['beta']],
      ['from=24h', ['alpha']],
      ['from=60d&to=1d', ['beta', 'gamma']],
      ['demo=true', []],
      ['text=charged', ['alpha']],
      ['text=twice CHARGED', ['alpha']],
      ['text=world', ['beta']],
      ['text=café', ['gamma', 'delta']],
      ['text=était', ['gamma']],
      ['text=nowhere', []],
      ['text="id"', ['alpha', 'beta', 'gamma', 'delta']],
    ])('%s', async (query, expected) => {
      expect(
        await names(
          query.replaceAll('+', '%2B').replaceAll('>', '%3E').replaceAll('<', '%3C').replaceAll(' ', '%20'),
        ),
      ).toEqual(expected)
    })

    test.each([
      ['sort=cost', ['beta', 'delta', 'alpha', 'gamma']],
      ['sort=duration', ['gamma', 'beta', 'delta', 'alpha']],
      ['sort=tokens&order=desc&limit=1', ['beta']],
      ['sort=time&order=asc', ['delta', 'gamma', 'beta', 'alpha']],
    ])('%s', async (query, expected) => {
      const found = await names(query)
      expect(found[0]).toBe(expected[0])
      expect(found.toSorted()).toEqual(expected.toSorted())
    })

    test('pages by cursor, each session once', async () => {
      const seen: string[] = []
      let cursor = ''
      do {
        const response = await server.request(`/api/sessions?project=${project}&limit=1${cursor}`)
        const page = (await response.json()) as { sessions: SessionSummary[]; nextCursor?: string }
        seen.push(...page.sessions.map(({ name }) => name))
        cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
      } while (cursor !== '')

      expect(seen).toEqual(['alpha', 'beta', 'gamma', 'delta'])
    })

    test('times beyond all sessions find all of them, or none', async () => {
      const all = (await server.sessions(`project=${project}&limit=1000`)).length
      for (const [query, count] of [
        ['from=0001-01-01T00:00:00Z', all],
        ['from=99999999999d', all],
        ['to=9999-12-31T23:59:59Z', all],
        ['from=9999-12-31T23:59:59Z', 0],
        ['to=0001-01-01T00:00:00Z', 0],
      ] as const) {
        expect([query, (await server.sessions(`project=${project}&limit=1000&${query}`)).length]).toEqual([
          query,
          count,
        ])
        const stats = await server.request(`/api/stats?project=${project}&interval=auto&${query}`)
        expect([query, ((await stats.json()) as { total: number }).total]).toEqual([query, count])
      }
    })

    test('what it can not read it names', async () => {
      for (const query of [
        'cost=cheap',
        'duration=long',
        'from=yesterday',
        'status=broken',
        'limit=0',
        'cursor=xyz',
      ]) {
        const response = await server.request(`/api/sessions?project=${project}&${query}`)
        const { error } = (await response.json()) as { error: { code: string; message: string } }
        expect({ query, status: response.status, code: error.code }).toEqual({
          query,
          status: 400,
          code: 'BAD_REQUEST',
        })
        expect(error.message).toContain(query.split('=')[0])
      }
    })

    test('suggests values that occur', async () => {
      const response = await server.request(`/api/values?project=${project}&field=tool&contains=SEA`)
      expect(await response.json()).toEqual({ values: [{ value: 'search', sessions: 2 }] })
    })

    test('the statistics are those of the list', async () => {
      expect(await stats('')).toMatchObject({
        total: 4,
        fail: 1,
        failureRate: 0.25,
        usage: { input: 9_300, output: 930 },
        buckets: [],
        groups: [],
      })
      expect((await stats('interval=day&from=60d')).buckets.map(({ total }) => total)).toEqual([1, 1, 1])
      expect((await stats('groupBy=tool')).groups).toMatchObject([
        { key: 'search', total: 2, calls: 2, failedCalls: 0, durationMs: { p50: 100 } },
        { key: 'lookup', total: 1, calls: 1 },
        { key: 'refund', total: 1, fail: 1, calls: 1, failedCalls: 1 },
      ])
      expect((await stats('groupBy=model')).groups.find(({ key }) => key === 'my-own-model')).toMatchObject({
        cost: null,
        usage: { input: 100, output: 10 },
      })
      expect((await stats('groupBy=error')).groups).toMatchObject([
        { total: 1, example: { message: 'ValueError: customer_id cannot be null' } },
      ])
      expect((await stats('groupBy=tag')).groups.map(({ key, total }) => [key, total])).toEqual([
        ['y', 2],
        ['old', 1],
        ['x', 1],
      ])
      expect((await stats('groupBy=test')).groups.map(({ key }) => key)).toEqual(['billing > refunds work'])
      expect(await stats('status=running')).toMatchObject({ total: 0, failureRate: null, cost: null })
    })
  })

  describe('a session', () => {
    beforeAll(freshProject)

    test('is found by an unambiguous beginning of its id, with or without s_', async () => {
      const traceId = `abcd${hex(14)}`
      await post(session({ traceId, name: 'one' }))
      for (const typed of [traceId, traceId.slice(0, 8), `s_${traceId.slice(0, 8)}`, traceId.toUpperCase()]) {
        expect((await server.session(typed, `project=${project}`)).session.id).toBe(traceId)
      }

      await post(session({ traceId: `abcd${hex(14)}` }))
      const ambiguous = await server.request(`/api/sessions/s_abcd?project=${project}`)
      expect([ambiguous.status, await ambiguous.json()]).toMatchObject([
        409,
        { error: { code: 'AMBIGUOUS_ID' } },
      ])
      const missing = await server.request(`/api/sessions/${hex(16)}?project=${project}`)
      expect([missing.status, await missing.json()]).toMatchObject([
        404,
        { error: { code: 'SESSION_NOT_FOUND' } },
      ])
    })

    test('runs while a step lacks its end, and is complete when the end arrives', async () => {
      const [root, call, action] = session({ name: 'live', startMs: Date.now() - 500 })
      const { endMs: _, ...open } = root!
      await post([open, call!])
      const during = await server.session(root!.traceId!, `project=${project}`)
      expect(during.session).toMatchObject({ endState: 'running', endedAt: null, durationMs: null })
      expect(await names('status=running')).toEqual(['live'])

      await post([action!, root!])
      const after = await server.session(root!.traceId!, `project=${project}`)
      expect(after.session).toMatchObject({ endState: 'success', durationMs: 1_000, stepCount: 3 })
      expect(await names('status=running')).toEqual([])
    })

    test('of which a richer copy of a span arrived keeps the richer one, in whatever order', async () => {
      for (const isRicherFirst of [true, false]) {
        const [root, call] = session({ name: 'copies' })
        const poor = { ...call!, spanId: hex(8), attributes: { 'gen_ai.request.model': 'gpt-4o' } }
        const rich = { ...poor, attributes: call!.attributes! }
        for (const copy of isRicherFirst ? [rich, poor] : [poor, rich]) await post([root!, copy])

        const { session: summary, steps } = await server.session(root!.traceId!, `project=${project}`)
        expect([summary.usage.input, steps.length]).toEqual([100, 2])
      }
    })

    test('that crosses an hour because its root came last is listed once', async () => {
      const traceId = hex(16)
      const [root, call] = session({ traceId, name: 'crossing', startMs: NOW - 5 * HOUR })
      await post([{ ...call!, startMs: NOW - 3 * HOUR, endMs: NOW - 3 * HOUR + 10 }])
      expect(await names('name=crossing')).toHaveLength(0)
      await server.sessions(`project=${project}`)
      await post([root!])

      expect(await names('name=crossing')).toEqual(['crossing'])
      expect((await server.sessions(`project=${project}`)).filter(({ id }) => id === traceId)).toHaveLength(1)
    })

    test('gives one step with its payload, the recording and the spans as they came', async () => {
      const spans = session({ name: 'whole', prompt: 'the whole prompt' })
      await post(spans)
      const [{ traceId }] = spans as [{ traceId: string }]
      const { steps } = await server.session(traceId, `project=${project}&payloads=none`)
      const call = steps.find(({ kind }) => kind === 'llm')!
      expect(call.hasPayload).toBe(false)

      const step = (await (
        await server.request(`/api/sessions/${traceId}/steps/${call.id}?project=${project}`)
      ).json()) as typeof call
      expect(step).toMatchObject({
        hasPayload: true,
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'the whole prompt' }] }],
      })

      const recording = await server.request(`/api/sessions/${traceId}/recording?project=${project}`)
      expect(await recording.json()).toMatchObject({
        version: 1,
        session: { id: traceId },
        steps: expect.any(Array) as unknown[],
      })
      const otlp = (await (
        await server.request(`/api/sessions/${traceId}/recording.otlp?project=${project}`)
      ).json()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] }
      expect(otlp.resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(3)
    })

    test('can be deleted', async () => {
      const [root] = session({ name: 'doomed' })
      await post([root!])
      expect(await names('name=doomed')).toEqual(['doomed'])

      const response = await server.request(`/api/sessions/${root!.traceId}?project=${project}`, {
        method: 'DELETE',
      })

      expect(response.status).toBe(200)
      expect(await names('name=doomed')).toEqual([])
      expect((await server.request(`/api/sessions/${root!.traceId}?project=${project}`)).status).toBe(404)
    })
  })

  test('retention deletes what is older than the project keeps, and nothing else', async () => {
    await freshProject()
    await post(session({ name: 'fresh' }), session({ name: 'stale', startMs: NOW - 10 * DAY }))
    await server.sessions(`project=${project}`)
    await server.services.registry.updateProject(project, { retentionDays: 7 })

    await applyRetention(server.services.store, server.services.registry, Date.now())

    expect(await names('')).toEqual(['fresh'])
  })

  test('repricing says what changed, model by model', async () => {
    await freshProject()
    await post(
      session({ name: 'mine', model: 'my-own-model', tokens: [1_000_000, 100_000] }),
      session({ name: 'known', model: 'gpt-4o' }),
    )
    expect((await server.sessions(`project=${project}&name=mine`))[0]).toMatchObject({
      cost: null,
      unpricedModels: ['my-own-model'],
    })
    const priceOverrides = [{ model: 'my-own-*', inputPerMillion: 2, outputPerMillion: 10 }]
    const patched = await server.request(`/api/projects/${project}`, {
      method: 'PATCH',
      json: { priceOverrides },
    })
    expect(patched.status).toBe(200)

    const response = await server.request(`/api/reprice?project=${project}`, { method: 'POST' })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { result?: unknown })

    expect(lines.at(-1)?.result).toEqual({
      project,
      sessions: 1,
      steps: 1,
      models: [{ model: 'my-own-model', steps: 1, before: null, after: 3 }],
      unpricedModels: [],
    })
    expect((await server.sessions(`project=${project}&name=mine`))[0]).toMatchObject({
      cost: 3,
      unpricedModels: [],
    })
    expect(
      (
        await server.session(
          (await server.sessions(`project=${project}&name=mine`))[0]!.id,
          `project=${project}`,
        )
      ).session.cost,
    ).toBe(3)
  })

  test('deriving again changes nothing while the rules are the same', async () => {
    await freshProject()
    await post(session({ name: 'again' }))
    const [before] = await server.sessions(`project=${project}`)

    const response = await server.request(`/api/rederive?project=${project}&all=true`, { method: 'POST' })

    expect((await response.text()).trim().split('\n').at(-1)).toContain('"steps":3')
    expect((await server.sessions(`project=${project}`))[0]).toEqual(before)
  })

  test('a backup of a running server restores into another, and restoring twice changes nothing', async () => {
    await freshProject()
    await post(session({ name: 'kept' }), session({ name: 'kept too', error: 'it broke' }))
    const before = await server.sessions(`project=${project}`)
    const backup = await (await server.request('/api/backup')).arrayBuffer()
    const other = await startTestServer()

    for (let times = 0; times < 2; times++) {
      const response = await other.request('/api/restore', {
        method: 'POST',
        body: backup,
        headers: { 'content-type': 'application/x-tar' },
      })
      expect([response.status, await response.json()]).toMatchObject([200, {}])
      const restored = await other.sessions(`project=${project}`)
      expect(restored.map(({ url: _, ...rest }) => rest)).toEqual(before.map(({ url: _, ...rest }) => rest))
    }
    const cut = await other.request('/api/restore', {
      method: 'POST',
      body: backup.slice(0, backup.byteLength - 2048),
      headers: { 'content-type': 'application/x-tar' },
    })
    expect([cut.status, await cut.text()]).toEqual([400, expect.stringContaining('cut off') as string])
    await other.stop()
  })
})
