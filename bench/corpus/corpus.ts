import type { Attributes, Span, SpanEvent } from '@playhead/model'
import { createEnglish } from './english.ts'
import { Random } from './random.ts'
import {
  openInferenceShape,
  otelShape,
  vercelShape,
  type ChatMessage,
  type Model,
  type ModelCall,
  type Origin,
  type Shape,
  type ToolCall,
  type Worded,
} from './span-shapes.ts'

export const SPANS_PER_SESSION = 20
/** The average size of a span in protobuf. Figures for bytes and rates refer to this size. */
export const SPAN_BYTES = 2_400

const models: readonly Model[] = [
  { id: 'gpt-4o-mini', provider: 'openai', served: 'gpt-4o-mini-2024-07-18' },
  { id: 'claude-sonnet-4-5', provider: 'anthropic', served: 'claude-sonnet-4-5-20250929' },
  { id: 'gpt-4o', provider: 'openai', served: 'gpt-4o-2024-08-06' },
  { id: 'gpt-5', provider: 'openai', served: 'gpt-5-2025-08-07' },
  { id: 'gemini-2.5-pro', provider: 'gcp.gemini', served: 'gemini-2.5-pro' },
  { id: 'claude-haiku-4-5', provider: 'anthropic', served: 'claude-haiku-4-5-20251001' },
  { id: 'gemini-2.5-flash', provider: 'gcp.gemini', served: 'gemini-2.5-flash' },
  { id: 'gpt-5-mini', provider: 'openai', served: 'gpt-5-mini-2025-08-07' },
  { id: 'o3', provider: 'openai', served: 'o3-2025-04-16' },
  { id: 'mistral-large-latest', provider: 'mistral_ai', served: 'mistral-large-2411' },
  { id: 'house-llama-70b', provider: 'self_hosted', served: 'house-llama-70b' },
]
const agents = ['support', 'research', 'coder', 'triage', 'planner', 'billing', 'reviewer', 'travel']
const toolVerbs = ['get', 'search', 'update', 'list', 'create', 'delete', 'send', 'check']
const toolNouns = ['order', 'customer', 'invoice', 'document', 'ticket', 'flight', 'file', 'table']
const tools = toolVerbs.flatMap((verb) => toolNouns.map((noun) => `${verb}_${noun}`))
const tags = [
  'production',
  'beta',
  'checkout',
  'refund',
  'onboarding',
  'nightly',
  'eu',
  'us',
  'vip',
  'canary',
  'batch',
  'replayed',
]
const errors = [
  'TimeoutError',
  'RateLimitError',
  'ValidationError',
  'NotFoundError',
  'PermissionError',
  'ConnectionError',
]
const taskNames = ['refund request', 'order status', 'weekly report', 'code review', 'flight search']

/** Generates sessions, always the same for the same seed. */
export class Corpus {
  readonly #random: Random
  readonly #english: (length: number) => string
  readonly #systems: ReadonlyMap<string, string>

  constructor(seed: number) {
    this.#random = new Random(seed)
    // Which word follows which must not depend on the seed, so that every corpus uses the same language.
    const language = new Random(7)
    this.#english = createEnglish(this.#random)
    const english = createEnglish(language)
    this.#systems = new Map(agents.map((agent) => [agent, english(380)]))
  }

  /** A session of 20 spans that started at this time, parents before children. */
  createSession(startMs: number): Span[] {
    return new SessionWriter(this.#random, this.#english, this.#systems, startMs).write()
  }
}

type Place = { parentId: string | null; agent: string }

class SessionWriter {
  readonly #random: Random
  readonly #english: (length: number) => string
  readonly #systems: ReadonlyMap<string, string>
  readonly #shape: Shape
  readonly #model: Model
  readonly #origin: Origin
  readonly #resource: Attributes
  readonly #traceId: string
  readonly #failsAt: number
  readonly #spans: Span[] = []
  readonly #history: ChatMessage[] = []
  #clockNs: bigint

  constructor(
    random: Random,
    english: (length: number) => string,
    systems: ReadonlyMap<string, string>,
    startMs: number,
  ) {
    this.#random = random
    this.#english = english
    this.#systems = systems
    this.#shape = pickShape(random)
    this.#model = random.pickSkewed(models)
    this.#traceId = random.hex(32)
    this.#clockNs = BigInt(Math.round(startMs)) * 1_000_000n + BigInt(random.below(1_000_000))
    this.#failsAt = random.chance(0.05) ? random.between(6, SPANS_PER_SESSION) : -1
    this.#origin = {
      userId: `user_${random.skewed(1, 50_000)}`,
      threadId: `thread_${random.hex(16)}`,
      tags: [...new Set([random.pickSkewed(tags), random.pick(tags)])],
      environment: random.chance(0.8) ? 'production' : 'staging',
      sessionName: random.pick(taskNames),
    }
    this.#resource = resourceOf(random, this.#origin)
  }

  write(): Span[] {
    const random = this.#random
    const agent = random.pick(agents)
    const question = this.#english(random.between(120, 300))
    this.#history.push({ role: 'user', text: question })
    const root = this.#begin(
      null,
      this.#shape.agent({ agent, input: question, output: '' }, this.#origin, true),
    )
    let place: Place = { parentId: root.spanId, agent }
    const nestsAt = random.chance(0.3) ? 9 : -1
    let nested: Span | undefined
    while (this.#spans.length < SPANS_PER_SESSION) {
      if (this.#spans.length === nestsAt) {
        nested = this.#beginNested(place)
        place = { parentId: nested.spanId, agent: `${agent}-helper` }
      } else this.#takeTurn(place)
    }
    for (const open of [nested, root]) if (open !== undefined) open.endNs = this.#clockNs
    const answer = this.#history.findLast(({ role }) => role === 'assistant')?.text ?? ''
    root.attributes = this.#shape.agent(
      { agent, input: question, output: answer },
      this.#origin,
      true,
    ).attributes
    this.#settleOutcome(root)
    return this.#spans
  }

  /** A model call and then the tool that it asked for, until the session has enough spans. */
  #takeTurn(place: Place): void {
    const random = this.#random
    const tool = this.#createToolCall()
    const isLast = this.#spans.length >= SPANS_PER_SESSION - 1
    const answer = this.#english(random.skewed(120, 800))
    const call: ModelCall = {
      agent: place.agent,
      model: this.#model,
      system: this.#systems.get(place.agent) ?? this.#systems.get('planner')!,
      history: this.#history.slice(-5),
      answer,
      calledTools: isLast ? [] : [tool],
      responseId: `${this.#model.provider === 'anthropic' ? 'msg_' : 'chatcmpl-'}${random.hex(24)}`,
      usage: this.#createUsage(),
    }
    this.#add(place.parentId, this.#shape.chat(call, this.#origin), random.skewed(300, 9_000))
    this.#history.push({ role: 'assistant', text: answer })
    if (isLast) return
    const fails = this.#spans.length === this.#failsAt
    const worded = this.#shape.tool(fails ? { ...tool, result: '' } : tool, this.#origin, place.agent)
    const span = this.#add(place.parentId, worded, random.skewed(5, 3_000))
    if (fails) this.#fail(span)
    this.#history.push({ role: 'tool', text: tool.result, toolCallId: tool.callId })
  }

  #createToolCall(): ToolCall {
    const random = this.#random
    const name = random.pickSkewed(tools)
    return {
      name,
      callId: `call_${random.hex(24)}`,
      arguments: JSON.stringify({
        query: this.#english(random.between(30, 90)),
        [`${name.split('_')[1]}Id`]: random.chance(0.1) ? null : random.hex(12),
        limit: random.pick([5, 10, 20, 50]),
      }),
      result: JSON.stringify({
        ok: true,
        total: random.below(400),
        items: Array.from({ length: random.between(1, 4) }, () => ({
          id: random.hex(12),
          score: Math.round(random.next() * 1_000) / 1_000,
          text: this.#english(random.skewed(70, 500)),
        })),
      }),
    }
  }

  #createUsage(): ModelCall['usage'] {
    const random = this.#random
    const usage: ModelCall['usage'] = { input: random.between(300, 6_000), output: random.skewed(40, 900) }
    if (this.#model.provider === 'anthropic') {
      usage.cacheRead = random.between(1_000, 30_000)
      if (random.chance(0.3)) usage.cacheWrite = random.between(200, 4_000)
      usage.input += usage.cacheRead + (usage.cacheWrite ?? 0)
    } else if (/^(?:gpt-5|o3)/.test(this.#model.id)) usage.reasoning = random.below(usage.output)
    return usage
  }

  #beginNested(place: Place): Span {
    const run = { agent: `${place.agent}-helper`, input: this.#english(150), output: this.#english(200) }
    return this.#begin(place.parentId, this.#shape.agent(run, this.#origin, false))
  }

  #add(parentId: string | null, worded: Worded, durationMs: number): Span {
    const span = this.#begin(parentId, worded)
    this.#clockNs += BigInt(durationMs) * 1_000_000n + BigInt(this.#random.below(900_000))
    span.endNs = this.#clockNs
    return span
  }

  #begin(parentId: string | null, { name, kind, attributes }: Worded): Span {
    const span: Span = {
      traceId: this.#traceId,
      spanId: this.#random.hex(16),
      parentSpanId: parentId,
      isParentRemote: false,
      name,
      kind,
      startNs: this.#clockNs,
      endNs: null,
      statusCode: 0,
      statusMessage: '',
      attributes,
      events: [],
      links: [],
      resource: this.#resource,
      scope: this.#shape.scope,
    }
    this.#clockNs += BigInt(this.#random.below(2_000_000))
    this.#spans.push(span)
    return span
  }

  #fail(span: Span): void {
    const type = this.#random.pick(errors)
    const message = `${type}: ${this.#english(60)}`
    span.statusCode = 2
    span.statusMessage = message
    span.events.push(exceptionEvent(span.endNs ?? span.startNs, type, message))
  }

  /** Half of the sessions with a failed tool recover. */
  #settleOutcome(root: Span): void {
    const failed = this.#spans.find((span) => span.statusCode === 2)
    if (failed === undefined || this.#random.chance(0.5)) return
    root.statusCode = 2
    root.statusMessage = failed.statusMessage
  }
}

/** Most sessions use OpenTelemetry's own conventions, then Vercel's SDK and OpenInference. */
function pickShape(random: Random): Shape {
  const choice = random.next()
  if (choice < 0.76) return otelShape
  return choice < 0.88 ? openInferenceShape : vercelShape
}

function resourceOf(random: Random, origin: Origin): Attributes {
  return {
    'service.name': `${random.pick(agents)}-service`,
    'service.version': `1.${random.below(30)}.0`,
    'deployment.environment.name': origin.environment,
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.version': '2.2.0',
    'host.name': `node-${random.below(12)}`,
  }
}

function exceptionEvent(timeNs: bigint, type: string, message: string): SpanEvent {
  const frames = ['callTool', 'runTurn', 'runAgent', 'main'].map(
    (name, depth) => `    at ${name} (file:///app/src/${name.toLowerCase()}.js:${17 + depth * 31}:9)`,
  )
  return {
    name: 'exception',
    timeNs,
    attributes: {
      'exception.type': type,
      'exception.message': message,
      'exception.stacktrace': [message, ...frames].join('\n'),
    },
  }
}
