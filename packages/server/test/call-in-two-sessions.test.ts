import { afterAll, beforeAll, expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

const startMs = Date.UTC(2026, 5, 1, 12)

/** One model call, reported as a session of its own. */
function report(instrumentation: string, responseId: string, tokens: Record<string, number>) {
  const traceId = hex(16)
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.id': responseId,
    ...tokens,
  }
  const span = { traceId, spanId: hex(8), startMs, endMs: startMs + 900, attributes }
  return { traceId, payload: tracesPayload([span], {}, instrumentation) }
}

const some = { 'gen_ai.usage.input_tokens': 100 }
const most = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20 }

async function tokensOf(id: string): Promise<number> {
  const { session } = await server.session(id)
  return (session.usage?.input ?? 0) + (session.usage?.output ?? 0)
}

test('a call that two instrumentations report as two sessions counts once, in the session with more detail', async () => {
  const [first, second] = [report('wrapper', 'r1', some), report('wire', 'r1', most)]
  await server.postTraces(first.payload)
  await server.sessions()
  expect(await tokensOf(first.traceId)).toBe(100)
  await server.postTraces(second.payload)
  for (const again of [false, true]) {
    if (again) for (const { payload } of [second, first]) await server.postTraces(payload)
    const usage = new Map((await server.sessions()).map(({ id, usage }) => [id, usage]))
    expect(usage.get(second.traceId)).toMatchObject({ input: 100, output: 20 })
    expect(usage.get(first.traceId)?.input ?? 0).toBe(0)
    expect([await tokensOf(first.traceId), await tokensOf(second.traceId)]).toEqual([0, 120])
    // Neither is part of a run, so the second report is no second call.
    const counts = new Map((await server.sessions()).map(({ id, llmCallCount }) => [id, llmCallCount]))
    expect([counts.get(first.traceId), counts.get(second.traceId)]).toEqual([0, 1])
  }
})

test('counts every call of a scripted model that repeats its response id', async () => {
  const reports = Array.from({ length: 200 }, () => report('wire', 'chatcmpl-123', most))
  await server.postTraces({ resourceSpans: reports.flatMap(({ payload }) => payload.resourceSpans) })
  const ids = new Set(reports.map(({ traceId }) => traceId))
  const listed = (await server.sessions()).filter(({ id }) => ids.has(id))
  expect(listed).toHaveLength(200)
  for (const { usage } of listed) expect(usage).toMatchObject({ input: 100, output: 20 })
})

type Report = { traceId: string; payload: ReturnType<typeof tracesPayload> }

/** An agent whose only model call is a stream, as LangChain's spans tell of it: no response id, no input tokens. */
function run(startMs: number, calls: number): Report {
  const traceId = hex(16)
  const agent = {
    traceId,
    spanId: hex(8),
    startMs,
    endMs: startMs + 1_000,
    attributes: { 'openinference.span.kind': 'AGENT' },
  }
  const streams = Array.from({ length: calls }, () => ({
    traceId,
    spanId: hex(8),
    parentSpanId: agent.spanId,
    startMs: startMs + 10,
    endMs: startMs + 900,
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'claude-sonnet-4-5-20250929',
      'llm.token_count.prompt': 0,
      'llm.token_count.completion': 41,
      'output.value': 'Let me check.',
    },
  }))
  return {
    traceId,
    payload: tracesPayload([agent, ...streams], {}, 'openinference.instrumentation.langchain'),
  }
}

/** The same stream as the client traces it, in a trace of its own. */
function clientSpan(startMs: number, scope = 'com.anthropic.sdk'): Report {
  const traceId = hex(16)
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'claude-sonnet-4-5',
    'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
    'gen_ai.response.id': `msg_${traceId}`,
    'gen_ai.usage.input_tokens': 1253,
    'gen_ai.usage.output_tokens': 41,
    'gen_ai.usage.cache_read.input_tokens': 1001,
  }
  const span = { traceId, spanId: hex(8), startMs: startMs + 90, endMs: startMs + 899, attributes }
  return { traceId, payload: tracesPayload([span], {}, scope) }
}

async function countsOf(
  reports: readonly Report[],
): Promise<{ calls: number; input: number; output: number }[]> {
  const listed = new Map((await server.sessions()).map((session) => [session.id, session]))
  return Promise.all(
    reports.map(async ({ traceId }) => {
      const { session } = await server.session(traceId)
      const counts = ({ llmCallCount, usage }: typeof session) => ({
        calls: llmCallCount,
        input: usage?.input ?? 0,
        output: usage?.output ?? 0,
      })
      expect(counts(session)).toEqual(counts(listed.get(traceId)!))
      return counts(session)
    }),
  )
}

const counted = { calls: 1, input: 1253, output: 41 }
const nothing = { calls: 0, input: 0, output: 0 }

test.each([
  ['the run first', (agent: Report, client: Report) => [agent, client]],
  ['the client first', (agent: Report, client: Report) => [client, agent]],
])(
  "a run's call without a response id has the figures of the client's span in another trace: %s",
  async (order, inOrder) => {
    const at = startMs + (order === 'the run first' ? 60_000 : 120_000)
    const [agent, client] = [run(at, 1), clientSpan(at)]
    for (const { payload } of inOrder(agent, client)) {
      await server.postTraces(payload)
      await server.sessions()
    }
    expect(await countsOf([agent, client])).toEqual([counted, nothing])

    await server.postTraces(client.payload)
    expect(await countsOf([agent, client])).toEqual([counted, nothing])
  },
)

test('parallel calls with the same figures stay as many as there were', async () => {
  const at = startMs + 180_000
  const agent = run(at, 2)
  const clients = [clientSpan(at), clientSpan(at), clientSpan(at)]
  const payloads = [agent, ...clients].flatMap(({ payload }) => payload.resourceSpans)
  await server.postTraces({ resourceSpans: payloads })

  const [ofRun, ...ofClients] = await countsOf([agent, ...clients])
  expect(ofRun).toEqual({ calls: 2, input: 2_506, output: 82 })
  expect(ofClients.filter(({ calls }) => calls === 1)).toEqual([counted])

  const later = startMs + 240_000
  const sameScope = [run(later, 1), clientSpan(later, 'openinference.instrumentation.langchain')]
  for (const { payload } of sameScope) await server.postTraces(payload)
  expect(await countsOf(sameScope)).toEqual([{ calls: 1, input: 0, output: 41 }, counted])
})

test('calls of two runs of one agent stay two, whatever their figures', async () => {
  const at = startMs + 300_000
  const reports = [run(at, 1), run(at, 1), clientSpan(at + 3_000)]
  for (const { payload } of reports) await server.postTraces(payload)
  const unknownInput = { calls: 1, input: 0, output: 41 }
  expect(await countsOf(reports)).toEqual([unknownInput, unknownInput, counted])
})
