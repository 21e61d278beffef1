import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { responseSchemas, type ApiResponses } from '../src/api/schemas/responses.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { NOW, session } from './project-server.ts'
import { startTestServer } from './test-server.ts'

const server = await startTestServer()
afterAll(() => server.stop())

const parentId = hex(16)
const stepId = hex(8)

type Rerun = { name: string; lane: string; edit?: unknown; error?: string; at?: string }

/** A re-run of the parent, in the same test as it. */
function rerun({ name, lane, edit, error, at }: Rerun) {
  return session({
    name,
    tags: ['rerun'],
    ...(error !== undefined && { error }),
    more: {
      ...ofTest,
      'playhead.rerun.parent': parentId,
      'playhead.rerun.lane': lane,
      ...(at !== undefined && { 'playhead.rerun.step': at }),
      ...(edit !== undefined && { 'playhead.rerun.edit': JSON.stringify(edit) }),
    },
  })
}

const ofTest = { 'playhead.test.name': 'refunds work', 'playhead.test.file': 'refund.test.ts' }

const get = async <Body>(path: string): Promise<Body> => {
  const response = await server.request(path)
  expect({ path, status: response.status }).toEqual({ path, status: 200 })
  return response.json() as Promise<Body>
}

describe('the re-runs of a session', () => {
  beforeAll(async () => {
    await server.postTraces(
      tracesPayload([
        ...session({ name: 'parent', traceId: parentId, error: 'no customer', more: ofTest }),
        ...rerun({ name: 'same', lane: 'tape', error: 'no customer' }),
        ...rerun({ name: 'fixed', lane: 'fork', at: stepId, edit: { result: 'c_42' } }),
        ...rerun({ name: 'control', lane: 'fork', at: stepId, error: 'no customer' }),
      ]),
    )
  })

  test('are listed as what they are', async () => {
    const sessions = await server.sessions('sort=time')
    const facts = sessions.map(({ name, parentId: parent, parentStepId, lane, edit }) => ({
      name,
      parent,
      parentStepId,
      lane,
      edit,
    }))
    const fork = { parent: parentId, parentStepId: stepId, lane: 'fork' }
    expect(facts).toHaveLength(4)
    expect(facts).toEqual(
      expect.arrayContaining([
        { name: 'parent' },
        { name: 'same', parent: parentId, lane: 'tape' },
        { name: 'fixed', ...fork, edit: { result: 'c_42' } },
        { name: 'control', ...fork },
      ]),
    )
    const fixed = sessions.find(({ name }) => name === 'fixed')!
    expect((await server.session(fixed.id)).session).toEqual(fixed)
    responseSchemas['GET /api/sessions'].parse({ sessions })
  })

  test.each([
    [`parent=${parentId}`, ['control', 'fixed', 'same']],
    [`parent=s_${parentId.slice(0, 8)}`, ['control', 'fixed', 'same']],
    [`parent=${hex(16)}`, []],
    ['lane=fork', ['control', 'fixed']],
    ['lane=fork&lane=tape', ['control', 'fixed', 'same']],
    ['reruns=exclude', ['parent']],
    ['status=success&reruns=exclude', []],
    ['lane=fork&reruns=exclude', []],
  ])('%s finds %j', async (query, expected) => {
    const names = (await server.sessions(query)).map(({ name }) => name)
    expect(names.toSorted()).toEqual(expected)
  })

  test('a parent or lane that can not exist is refused', async () => {
    for (const query of ['parent=nobody', 'lane=fast', 'reruns=maybe'])
      expect((await server.request(`/api/sessions?${query}`)).status).toBe(400)
  })

  test.each([
    ['', 1],
    ['reruns=include', 4],
    ['lane=fork', 2],
    ['tag=rerun', 3],
  ])('count in statistics, graphs and tests only where they are asked for: %s', async (query, total) => {
    const stats = await get<{ total: number; groups: { total: number }[] }>(
      `/api/stats?groupBy=tool&${query}`,
    )
    const graph = await get<{ sessions: number }>(`/api/graph?${query}`)
    const listed = await get<{ sessions: unknown[] }>(`/api/graph/sessions?${query}`)
    expect([stats.total, stats.groups[0]?.total, graph.sessions, listed.sessions.length]).toEqual([
      total,
      total,
      total,
      total,
    ])
  })

  test('do not change the failure rate or the history of a test', async () => {
    const { failureRate } = await get<{ failureRate: number }>('/api/stats')
    const { tests } = await get<{ tests: { total: number; runs: unknown[] }[] }>('/api/tests')
    const all = await get<{ tests: { total: number }[] }>('/api/tests?reruns=include')
    expect(failureRate).toBe(1)
    expect(tests.map(({ total, runs }) => [total, runs.length])).toEqual([[1, 1]])
    expect(all.tests.map(({ total }) => total)).toEqual([4])
  })

  test('are found with what the forks show', async () => {
    const path = `/api/sessions/s_${parentId.slice(0, 8)}/reruns`
    const body = await get<ApiResponses['GET /api/sessions/{id}/reruns']>(path)
    expect(responseSchemas['GET /api/sessions/{id}/reruns'].parse(body)).toEqual(body)
    expect(body.reruns.map(({ name }) => name).toSorted()).toEqual(['control', 'fixed', 'same'])
    expect(body.reruns.every(({ id, url }) => url === `${server.url}/sessions/${id}`)).toBe(true)
    expect(body.evidence).toEqual([
      {
        stepId,
        edit: { result: 'c_42' },
        passed: 1,
        total: 1,
        control: { passed: 0, total: 1 },
        p: expect.closeTo(0.5),
      },
    ])
    const { id } = body.reruns[0]!
    expect(await get(`/api/sessions/${id}/reruns`)).toEqual({ reruns: [], evidence: [] })
    expect((await server.request(`/api/sessions/${hex(16)}/reruns`)).status).toBe(404)
  })
})

describe('what keeps a session from being run again', () => {
  const gapsOf = async (id: string, query = '') =>
    (await get<ApiResponses['GET /api/sessions/{id}']>(`/api/sessions/${id}?${query}`)).tapeGaps
  const post = async (traceId: string, ...spans: SpanOptions[]) => {
    const root = { traceId, spanId: hex(8), name: 'agent', startMs: NOW, endMs: NOW + 5_000 }
    const below = spans.map((span) => ({ ...root, spanId: hex(8), parentSpanId: root.spanId, ...span }))
    await server.postTraces(tracesPayload([root, ...below], undefined, 'playhead'))
    return below.map(({ spanId }) => spanId)
  }
  const action = (name: string, result: string, startMs = NOW + 1) => ({
    name,
    startMs,
    attributes: {
      'playhead.step.kind': 'action',
      'gen_ai.tool.name': name,
      'playhead.action.arguments': '{}',
      'playhead.action.result': result,
    },
  })

  test('is said with the session, for steps below the first screen too', async () => {
    const traceId = hex(16)
    const many = Array.from({ length: 70 }, (_, index) => action('look', '"x"', NOW + 1 + index))
    const steps = await post(traceId, ...many, action('read_file', '"[3 bytes]"', NOW + 100))

    const gaps = [
      {
        code: 'result-not-data',
        stepId: steps.at(-1),
        sentence: 'read_file: its result is not data that can be recorded',
      },
    ]
    expect(await gapsOf(traceId)).toEqual(gaps)
    expect(await gapsOf(traceId, 'payloads=all')).toEqual(gaps)
    expect(await gapsOf(traceId, 'payloads=none')).toBeUndefined()
  })

  test('is nothing for a whole session, and not known for one that is too large', async () => {
    const [whole, large] = [hex(16), hex(16)]
    await post(whole, action('look', '"x"'))
    const text = JSON.stringify('x'.repeat(1_000_000))
    await post(large, ...Array.from({ length: 5 }, (_, index) => action('look', text, NOW + index)))

    expect(await gapsOf(whole)).toEqual([])
    expect(await gapsOf(large)).toBeUndefined()
    expect(await gapsOf(large, 'payloads=all')).toBeUndefined()
  })
})
