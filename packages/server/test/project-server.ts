import { afterAll, beforeAll, describe } from 'vitest'
import { startClusterOverHttp, startEngineOverHttp } from './engine-over-http.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

export const NOW = Date.now()
export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** A session with an agent, a model call and an action. */
export function session(options: {
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

type Stats = {
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

/** A server with a project for the test that runs. */
export class ProjectServer {
  server!: TestServer
  project = ''
  #projects = 0

  async freshProject(): Promise<void> {
    this.project = `q${(this.#projects += 1)}`
    await this.server.services.registry.createProject({ id: this.project, name: this.project })
  }

  async post(...spans: SpanOptions[][]): Promise<void> {
    const response = await this.server.request('/v1/traces', {
      json: tracesPayload(spans.flat()),
      headers: { 'x-playhead-project': this.project },
    })
    const text = await response.text()
    if (text !== '{}') throw new Error(`POST /v1/traces: ${response.status} ${text}`)
  }

  async names(query: string): Promise<string[]> {
    return (await this.server.sessions(`project=${this.project}&${query}`)).map(({ name }) => name)
  }

  async stats(query: string): Promise<Stats> {
    const response = await this.server.request(`/api/stats?project=${this.project}&${query}`)
    return (await response.json()) as Stats
  }
}

const noEngine = { url: undefined, stop: async () => {} }
const engines = {
  'the embedded engine': () => noEngine,
  CLICKHOUSE_URL: startEngineOverHttp,
  CLICKHOUSE_CLUSTER: startClusterOverHttp,
}

/** Runs the same tests with the embedded engine and with a cluster of two shards, or with the engines that are named. */
export function describeWithEachEngine(
  defineTests: (api: ProjectServer) => void,
  kinds: readonly (keyof typeof engines)[] = ['the embedded engine', 'CLICKHOUSE_CLUSTER'],
): void {
  describe.each(kinds)('with %s', (kind) => {
    const api = new ProjectServer()
    let stopEngine = noEngine.stop

    beforeAll(async () => {
      const { url, stop } = await engines[kind]()
      stopEngine = stop
      api.server = await startTestServer({
        ...(url !== undefined && { CLICKHOUSE_URL: url }),
        ...(kind === 'CLICKHOUSE_CLUSTER' && { CLICKHOUSE_CLUSTER: 'two' }),
      })
    })
    afterAll(async () => {
      await api.server.stop()
      await stopEngine()
    })

    defineTests(api)
  })
}
