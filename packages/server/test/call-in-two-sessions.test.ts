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
