import { hex, type SpanOptions } from '../packages/server/test/otlp.ts'

export type Listed = {
  name: string
  startMs: number
  durationMs?: number
  isFailed?: boolean
  /** False if the session is still running. */
  hasEnded?: boolean
  tags?: string[]
  tool?: string
  model?: string
  tokens?: [input: number, output: number]
  prompt?: string
  traceId?: string
  more?: Record<string, unknown>
}

/** The spans of a small session: an agent, a model call, and an action that may fail. */
export function listedSession(given: Listed): SpanOptions[] {
  const traceId = given.traceId ?? hex(16)
  const root = hex(8)
  const { startMs, durationMs = 2_000, hasEnded = true, tool = 'search', isFailed = false } = given
  const [input, output] = given.tokens ?? [1_200, 80]
  const failure = { code: 2, message: 'customer_id cannot be null' }
  return [
    {
      traceId,
      spanId: root,
      name: 'invoke_agent support',
      startMs,
      ...(hasEnded && { endMs: startMs + durationMs }),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'support',
        'playhead.session.name': given.name,
        'playhead.session.tags': given.tags ?? [],
        ...given.more,
      },
      ...(isFailed && { status: failure }),
    },
    {
      traceId,
      parentSpanId: root,
      name: 'chat',
      startMs: startMs + 1,
      endMs: startMs + durationMs / 2,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': given.model ?? 'gpt-4o',
        'gen_ai.usage.input_tokens': input,
        'gen_ai.usage.output_tokens': output,
        'gen_ai.input.messages': JSON.stringify([
          { role: 'user', parts: [{ type: 'text', content: given.prompt ?? given.name }] },
        ]),
      },
    },
    {
      traceId,
      parentSpanId: root,
      name: `execute_tool ${tool}`,
      startMs: startMs + durationMs / 2,
      endMs: startMs + durationMs * 0.9,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.arguments': '{"customer_id":null}',
      },
      ...(isFailed && {
        status: failure,
        events: [
          {
            name: 'exception',
            timeMs: startMs + durationMs * 0.9,
            attributes: { 'exception.type': 'ValueError', 'exception.message': failure.message },
          },
        ],
      }),
    },
  ]
}

const HOUR_MS = 3_600_000
const subjects = [
  'I was charged twice for my subscription',
  'Where is my order?',
  'Book a flight to Lisbon next Tuesday, aisle seat, no more than 300 euros, and tell my manager that I am away until Thursday',
  'Cancel my plan',
  'Übersetze diesen Vertrag',
]
const tools = [
  'fetch_customer_data',
  'classify_intent',
  'issue_refund',
  'create_calendar_event_with_a_rather_long_name',
]
const models = ['gpt-4o', 'claude-sonnet-4-5', 'house-llama-70b']
const tags = ['support', 'v2.1', 'production', 'customer-escalation-with-a-long-tag', 'eu']

/** Two weeks of sessions: every seventh fails, some have many tags or long names. */
export function manySessions(count: number, nowMs = Date.now()): SpanOptions[] {
  return Array.from({ length: count }, (_, index) =>
    listedSession({
      name: subjects[index % subjects.length]!,
      startMs: nowMs - 60_000 - (index / count) * 14 * 24 * HOUR_MS,
      durationMs: 400 + ((index * 977) % 9_000),
      isFailed: index % 7 === 3,
      tags: tags.slice(0, (index * 3) % (tags.length + 1)),
      tool: tools[index % tools.length]!,
      model: models[index % models.length]!,
      tokens: [300 + ((index * 131) % 9_000), 20 + ((index * 17) % 600)],
    }),
  ).flat()
}

const variants = ['I was charged twice', 'Charged me double', 'doppelt abgebucht']

/** A stable test, a flaky one, and one with three inputs and four attempts each. */
export function testSessions(nowMs = Date.now()): SpanOptions[] {
  const facts = (name: string, more: Record<string, unknown>) => ({
    'playhead.test.file': 'test/billing.test.ts',
    'playhead.test.suite': 'billing',
    'playhead.test.name': name,
    'playhead.test.run_id': 'run-1',
    'vcs.ref.head.name': 'main',
    'vcs.ref.head.revision': 'abc1234def',
    ...more,
  })
  const plain = Array.from({ length: 20 }, (_, index) => [
    listedSession({
      name: 'answers from customer data',
      startMs: nowMs - (index + 1) * 20 * 60_000,
      durationMs: 900 + ((index * 331) % 1_500),
      more: facts('answers from customer data', {}),
    }),
    listedSession({
      name: 'asks before it refunds',
      startMs: nowMs - (index + 1) * 21 * 60_000,
      isFailed: index % 6 === 2,
      more: facts('asks before it refunds', { 'vcs.ref.head.name': index < 12 ? 'main' : 'feature/refunds' }),
    }),
  ]).flat()
  const varied = variants.flatMap((variant, row) =>
    [1, 2, 3, 4].map((attempt) =>
      listedSession({
        name: variant,
        startMs: nowMs - 30 * 60_000 + row * 5_000 + attempt * 1_000,
        isFailed: row === 2 && attempt > 1,
        more: facts('billing, any phrasing', {
          'playhead.test.variant': variant,
          'playhead.test.attempt': attempt,
        }),
      }),
    ),
  )
  return [...plain, ...varied].flat()
}
