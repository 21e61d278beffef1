import { beforeAll, describe, expect, test } from 'vitest'
import type { SessionSummary } from '@playhead/model'
import { testSchema, statsSchema } from '../src/api/schemas/statistics.ts'
import { describeWithEachEngine } from './project-server.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import type { TestServer } from './test-server.ts'

const HOUR = 3_600_000
const NOW = Date.now()

let server: TestServer

type Given = {
  traceId?: string
  startMs?: number
  isFailed?: boolean
  model?: string
  tool?: string
  more?: Record<string, unknown>
}

/** A session with one action and one model call. It fails if its action fails. */
function session(given: Given): SpanOptions[] {
  const traceId = given.traceId ?? hex(16)
  const root = hex(8)
  const startMs = given.startMs ?? NOW - HOUR
  const failure = given.isFailed === true ? { status: { code: 2, message: 'no' } } : {}
  return [
    {
      traceId,
      spanId: root,
      name: 'agent',
      startMs,
      endMs: startMs + 2_000,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', ...given.more },
      ...failure,
    },
    {
      traceId,
      parentSpanId: root,
      name: 'chat',
      startMs: startMs + 10,
      endMs: startMs + 900,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': given.model ?? 'gpt-4o',
        'gen_ai.usage.input_tokens': 1_000,
        'gen_ai.usage.output_tokens': 100,
      },
    },
    {
      traceId,
      parentSpanId: root,
      name: 'tool',
      startMs: startMs + 1_000,
      endMs: startMs + 1_500,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': given.tool ?? 'search' },
      ...failure,
    },
  ]
}

async function post(project: string, ...sessions: SpanOptions[][]): Promise<void> {
  const response = await server.request('/v1/traces', {
    json: tracesPayload(sessions.flat()),
    headers: { 'x-playhead-project': project },
  })
  expect(await response.json()).toEqual({})
}

async function read<Answer>(path: string): Promise<Answer> {
  const response = await server.request(path)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

const testFacts = (name: string, more: Record<string, unknown> = {}) => ({
  'playhead.test.file': 'agent.test.ts',
  'playhead.test.suite': 'billing',
  'playhead.test.name': name,
  ...more,
})

type Tests = {
  tests: {
    name: string
    passRate: number | null
    isFlaky: boolean
    variants: number
    runs: { endState: string; variant?: string; commit?: string }[]
  }[]
}

describeWithEachEngine((api) => {
  beforeAll(async () => {
    server = api.server
    await server.services.registry.createProject({ id: 'pages', name: 'Pages' })
  })

  describe('tests', () => {
    beforeAll(async () => {
      const at = (hours: number) => NOW - hours * HOUR
      await post(
        'pages',
        session({ startMs: at(5), more: testFacts('is steady', { 'vcs.ref.head.name': 'main' }) }),
        session({ startMs: at(4), more: testFacts('is steady', { 'vcs.ref.head.name': 'main' }) }),
        session({ startMs: at(3), more: testFacts('wavers', { 'vcs.ref.head.revision': 'c1' }) }),
        session({
          startMs: at(2),
          isFailed: true,
          more: testFacts('wavers', { 'vcs.ref.head.revision': 'c1' }),
        }),
        session({
          startMs: at(1),
          more: testFacts('varies', { 'playhead.test.variant': 'Charged twice', 'playhead.test.attempt': 1 }),
        }),
        session({
          startMs: at(0.5),
          isFailed: true,
          more: testFacts('varies', { 'playhead.test.variant': 'Billed double', 'playhead.test.attempt': 1 }),
        }),
        session({ startMs: at(0.1) }),
      )
    })

    test('lists one row for each test, most recently run first, with the confidence interval of its pass rate', async () => {
      const { tests } = await read<Tests>('/api/tests?project=pages')

      expect(
        tests.map(({ name, passRate, isFlaky, variants }) => [name, passRate, isFlaky, variants]),
      ).toEqual([
        ['varies', 0.5, false, 2],
        ['wavers', 0.5, true, 0],
        ['is steady', 1, false, 0],
      ])
      expect(tests[0]!.runs.map(({ endState, variant }) => [endState, variant])).toEqual([
        ['fail', 'Billed double'],
        ['success', 'Charged twice'],
      ])
      expect(testSchema.array().parse(tests)).toEqual(tests)
    })

    test.each([
      ['branch=main', ['is steady']],
      ['contains=WAVER', ['wavers']],
      ['contains=agent.test', ['varies', 'wavers', 'is steady']],
      ['from=90m', ['varies']],
      ['limit=1', ['varies']],
    ])('%s', async (query, names) => {
      const { tests } = await read<Tests>(`/api/tests?project=pages&${query}`)
      expect(tests.map(({ name }) => name)).toEqual(names)
    })

    test("does not list another project's tests", async () => {
      expect(await read('/api/tests')).toEqual({ tests: [] })
    })

    test('filters the session list by test file', async () => {
      const { sessions } = await read<{ sessions: SessionSummary[] }>(
        '/api/sessions?project=pages&testFile=agent.test.ts&test=billing%20%3E%20varies',
      )
      expect(sessions.map(({ test: facts }) => facts?.variant)).toEqual(['Billed double', 'Charged twice'])
    })
  })

  test('a timeline chooses its interval, and days begin in the time zone of the reader', async () => {
    await server.services.registry.createProject({ id: 'days', name: 'Days' })
    await post(
      'days',
      session({ startMs: Date.UTC(2026, 0, 1, 22) }),
      session({ startMs: Date.UTC(2026, 0, 1, 23, 30) }),
    )
    const stats = (query: string) =>
      read<{ interval: string; buckets: { at: string; total: number }[] }>(`/api/stats?project=days&${query}`)
    const window = 'from=2025-12-20T00:00:00Z&to=2026-02-01T00:00:00Z'

    const inUtc = await stats(`${window}&interval=auto`)
    expect(statsSchema.parse(inUtc)).toEqual(inUtc)
    expect([inUtc.interval, inUtc.buckets.map(({ at, total }) => [at, total])]).toEqual([
      'day',
      [['2026-01-01T00:00:00Z', 2]],
    ])
    const inBerlin = await stats(`${window}&interval=day&zone=Europe/Berlin`)
    expect(inBerlin.buckets.map(({ at }) => at)).toEqual(['2025-12-31T23:00:00Z', '2026-01-01T23:00:00Z'])
    for (const interval of ['minute', '5-minutes', '15-minutes', 'hour', '6-hours', 'week', 'month']) {
      const { buckets } = await stats(`${window}&interval=${interval}&zone=America/New_York`)
      expect(buckets.reduce((sum, { total }) => sum + total, 0)).toBe(2)
    }
    const unknown = await server.request('/api/stats?project=days&interval=day&zone=Mars/Olympus')
    expect(unknown.status).toBe(400)
  })

  test('lists models without a price, and finds sessions by a failed action', async () => {
    await server.services.registry.createProject({ id: 'facts', name: 'Facts' })
    await post(
      'facts',
      session({ model: 'house-llama', tool: 'refund', isFailed: true }),
      session({ tool: 'refund' }),
    )

    const { unpricedModels } = await read<{ unpricedModels: string[] }>('/api/stats?project=facts')
    expect(unpricedModels).toEqual(['house-llama'])
    const found = await read<{ sessions: SessionSummary[] }>('/api/sessions?project=facts&failedTool=refund')
    expect(found.sessions.map(({ models }) => models)).toEqual([['house-llama']])
    const { groups } = await read<{ groups: { example: object }[] }>('/api/stats?project=facts&groupBy=error')
    expect(groups.map(({ example }) => example)).toEqual([
      {
        sessionId: found.sessions[0]!.id,
        message: expect.stringContaining('no') as string,
        action: 'refund',
      },
    ])
  })

  test('deletes several sessions at once, only in their own project', async () => {
    await server.services.registry.createProject({ id: 'gone', name: 'Gone' })
    const [first, second, third] = [hex(16), hex(16), hex(16)]
    await post('gone', session({ traceId: first }), session({ traceId: second }), session({ traceId: third }))

    const elsewhere = await server.request('/api/sessions/delete', { json: { ids: [third] } })
    expect(elsewhere.status).toBe(200)
    const response = await server.request('/api/sessions/delete?project=gone', {
      json: { ids: [first, second] },
    })

    expect(await response.json()).toEqual({ deleted: [first, second] })
    expect((await server.sessions('project=gone')).map(({ id }) => id)).toEqual([third])
    const unreadable = await server.request('/api/sessions/delete?project=gone', {
      json: { ids: ["' OR 1"] },
    })
    expect(unreadable.status).toBe(400)
  })

  test("a session's URL contains its project unless it is the default one", async () => {
    await post('default', session({}))
    await server.services.registry.createProject({ id: 'linked', name: 'Linked' })
    await post('linked', session({}))

    const [own] = await server.sessions('limit=1')
    const [other] = await server.sessions('project=linked')
    expect(own!.url).toBe(`${server.url}/sessions/${own!.id}`)
    expect(other!.url).toBe(`${server.url}/sessions/${other!.id}?project=linked`)
  })

  test('a live viewer of the list receives only summaries', async () => {
    const controller = new AbortController()
    const stream = await server.request('/api/live?only=session', { signal: controller.signal })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let received = (await reader.read()).value ?? ''
    await post('default', session({}))
    while (!received.includes('event: session')) received += (await reader.read()).value ?? ''

    expect(received).not.toContain('event: step')
    controller.abort()
  })
})
