import { beforeAll, expect, test } from 'vitest'
import type { DecisionGraph, SessionSummary } from '@playhead/model'
import { graphSchema } from '../src/api/schemas/statistics.ts'
import { describeWithEachEngine } from './project-server.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import type { TestServer } from './test-server.ts'

const NOW = Date.now()

let server: TestServer

type Way = { tools: string[]; isFailed?: boolean; writes?: string[]; test?: string }

/** A session with these actions in sequence, and a model call inside the first. */
function session({ tools, isFailed = false, writes = [], test }: Way, index: number): SpanOptions[] {
  const traceId = hex(16)
  const root = hex(8)
  const startMs = NOW - 100_000 + index * 10
  const first = hex(8)
  return [
    {
      traceId,
      spanId: root,
      name: 'support',
      startMs,
      endMs: startMs + 1_000,
      attributes: {
        'playhead.step.kind': 'workflow',
        'playhead.session.end_state': isFailed ? 'Fail' : 'Success',
        ...(test !== undefined && { 'playhead.test.name': test }),
      },
      ...(isFailed && { status: { code: 2, message: 'no' } }),
    },
    ...tools.map((tool, place) => ({
      traceId,
      spanId: place === 0 ? first : hex(8),
      parentSpanId: root,
      name: tool,
      startMs: startMs + 10 * (place + 1),
      endMs: startMs + 10 * (place + 1) + 5,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        ...(writes.includes(tool) && { 'playhead.step.effect': 'write' }),
      },
    })),
    {
      traceId,
      parentSpanId: first,
      name: 'chat',
      startMs: startMs + 11,
      endMs: startMs + 12,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
    },
  ]
}

async function post(project: string, ways: Way[]): Promise<void> {
  await server.services.registry.createProject({ id: project, name: project })
  const response = await server.request('/v1/traces', {
    json: tracesPayload(ways.flatMap(session)),
    headers: { 'x-playhead-project': project },
  })
  expect(await response.json()).toEqual({})
}

async function read<Answer>(path: string): Promise<Answer> {
  const response = await server.request(path)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${server.reports.join()}`)
  return (await response.json()) as Answer
}

const edgesOf = ({ edges }: DecisionGraph) =>
  edges
    .map(({ from, to, sessions, failure }) => `${from} → ${to}: ${sessions}, ${failure.failed} failed`)
    .toSorted()

describeWithEachEngine((api) => {
  beforeAll(() => {
    server = api.server
  })

  test('aggregates sessions into one graph of which step follows which, and how they ended', async () => {
    await post('ways', [
      { tools: ['classify', 'fetch', 'reply'] },
      { tools: ['classify', 'fetch', 'reply'] },
      { tools: ['classify', 'fetch', 'fetch', 'fetch', 'reply'] },
      { tools: ['classify', 'reply'], isFailed: true },
    ])
    const graph = await read<DecisionGraph>('/api/graph?project=ways')

    expect(graphSchema.parse(graph)).toEqual(graph)
    expect(edgesOf(graph)).toEqual([
      'action classify → action fetch: 3, 0 failed',
      'action classify → action reply: 1, 1 failed',
      'action fetch → action reply: 3, 0 failed',
      'action reply → end fail: 1, 1 failed',
      'action reply → end success: 3, 0 failed',
      'start → action classify: 4, 1 failed',
    ])
    expect(
      graph.variants.map(({ path, sessions, failure }) => [path.join(), sessions, failure.rate]),
    ).toEqual([
      ['action classify,action fetch,action reply', 3, 0],
      ['action classify,action reply', 1, 1],
    ])
    const fetch = graph.nodes.find(({ id }) => id === 'action fetch')!
    expect(fetch).toMatchObject({ sessions: 3, times: 5, p90Ms: 5, kind: 'action', name: 'fetch' })
    expect(graph).toMatchObject({
      sessions: 4,
      isPartial: false,
      variantCount: 2,
      failure: { failed: 1, ended: 4 },
    })
  })

  test('can include model calls, or show only effects', async () => {
    await post('effects', [
      { tools: ['classify', 'refund', 'reply'], writes: ['refund'] },
      { tools: ['classify', 'reply'], isFailed: true, writes: ['refund'] },
    ])
    const all = await read<DecisionGraph>('/api/graph?project=effects&of=steps')
    const effects = await read<DecisionGraph>('/api/graph?project=effects&of=effects')

    expect(all.nodes.map(({ id }) => id)).toContain('llm classify › gpt-4o')
    expect(edgesOf(effects)).toEqual([
      'action refund → end success: 1, 0 failed',
      'start → action refund: 1, 0 failed',
      'start → end fail: 1, 1 failed',
    ])
  })

  test('lists the sessions behind a node or an edge, within the filters', async () => {
    await post('clicks', [
      { tools: ['a', 'b', 'c'], test: 'one' },
      { tools: ['a', 'c'], test: 'one', isFailed: true },
      { tools: ['a', 'c', 'b'], test: 'other' },
    ])
    const count = async (query: string) =>
      (await read<{ sessions: SessionSummary[] }>(`/api/graph/sessions?project=clicks&${query}`)).sessions
        .length
    const edge = (from: string, to: string) =>
      new URLSearchParams([
        ['edge', from],
        ['edge', to],
      ]).toString()

    expect(await count('node=action+b')).toBe(2)
    expect(await count(edge('action a', 'action c'))).toBe(2)
    expect(await count(edge('start', 'action a'))).toBe(3)
    expect(await count(edge('action c', 'end fail'))).toBe(1)
    expect(await count(`${edge('action a', 'action c')}&test=one`)).toBe(1)
    expect(await count('node=end+success')).toBe(2)
    expect((await read<DecisionGraph>('/api/graph?project=clicks&test=one')).sessions).toBe(2)
    expect(await count('node=action+c&text=b')).toBe(2)
    expect((await read<DecisionGraph>('/api/graph?project=clicks&text=b')).sessions).toBe(2)
    expect((await read<DecisionGraph>('/api/graph?project=clicks&text=nowhere')).sessions).toBe(0)
  })

  test('returns an empty graph when no session matches', async () => {
    await server.services.registry.createProject({ id: 'empty', name: 'Empty' })
    expect(await read<DecisionGraph>('/api/graph?project=empty')).toMatchObject({
      sessions: 0,
      nodes: [],
      edges: [],
      variants: [],
    })
  })

  test('a name may contain any character', async () => {
    const names = [
      'nul\u0000 in it',
      'a → b',
      'tab\tand\nline',
      '\u001B[31mred',
      '"quoted\\',
      '\u202Ebidi',
      '🙂',
    ]
    await post('characters', [{ tools: names }, { tools: [names[0]!, names[1]!] }])
    const graph = await read<DecisionGraph>('/api/graph?project=characters')

    const ids = names.map((name) => `action ${name}`)
    expect(graph.nodes.map(({ id }) => id).toSorted()).toEqual(['start', 'end success', ...ids].toSorted())
    const steps = ['start', ...ids, 'end success']
    const edges = [...steps.slice(1).map((to, index) => [steps[index]!, to]), [ids[1]!, 'end success']]
    const asText = (lists: readonly (readonly string[])[]) =>
      lists.map((list) => JSON.stringify(list)).toSorted()
    expect(asText(graph.edges.map(({ from, to }) => [from, to]))).toEqual(asText(edges))
    expect(asText(graph.variants.map(({ path }) => path))).toEqual(asText([ids.slice(0, 2), ids]))
    for (const [from, to] of edges) {
      const query = new URLSearchParams([
        ['edge', from!],
        ['edge', to!],
      ]).toString()
      const { sessions } = await read<{ sessions: SessionSummary[] }>(
        `/api/graph/sessions?project=characters&${query}`,
      )
      expect([from, to, sessions.length]).toEqual([
        from,
        to,
        graph.edges.find((edge) => edge.from === from && edge.to === to)!.sessions,
      ])
    }
    for (const id of ids) {
      const query = new URLSearchParams({ node: id }).toString()
      const { sessions } = await read<{ sessions: SessionSummary[] }>(
        `/api/graph/sessions?project=characters&${query}`,
      )
      expect([id, sessions.length]).toEqual([id, graph.nodes.find((node) => node.id === id)!.sessions])
    }
  })
})
