import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { spansToOtlpJson, type Attributes, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanText } from './span-text.ts'

type SentSpan = {
  id: string
  /** At least one copy of it was acknowledged. */
  isAcknowledged: boolean
  /** A copy with an end and with usage was acknowledged. */
  isEndAcknowledged: boolean
  usage: { input: number; output: number } | undefined
  /** A hash of each copy that was sent, from the least to the most complete. */
  copies: string[]
  /** The most complete acknowledged copy: the stored one must be at least as complete. */
  acknowledgedCopy: number
}

export type SentSession = {
  id: string
  spans: Map<string, SentSpan>
  /** False if a request failed and was given up: whether its spans are stored is unknown. */
  isCertain: boolean
}

type TrafficOptions = {
  /** With several servers, each request goes to one of them. */
  url: string | readonly string[]
  /** Sent with every request. */
  headers?: Record<string, string>
  random: () => number
  connections: number
  /** Starts no more sessions than this. */
  maxSessions: number
  /** The maximum pause before a request. */
  maxPauseMs?: number
  /** Called with the latency of every acknowledgement. */
  onAcknowledged?: (latencyMs: number) => void
}

const SPANS_PER_SESSION = 20
const RETRY_DELAY_MS = 50

/**
 * Sends sessions the way SDKs do: spread over requests, starts before ends, some spans twice and more complete the second
 * time. Failed requests are retried or, sometimes, given up. Records what was acknowledged.
 */
export class Traffic {
  readonly sessions: SentSession[] = []
  acknowledgedRequests = 0
  failedRequests = 0
  /** Responses that are neither success nor "try again". */
  readonly unexpected: string[] = []
  readonly #options: TrafficOptions
  #isStopping = false
  #workers: Promise<unknown> = Promise.resolve()

  constructor(options: TrafficOptions) {
    this.#options = options
  }

  start(): void {
    this.#workers = Promise.all(Array.from({ length: this.#options.connections }, () => this.#work()))
  }

  /** Completes the sessions that were started; the server has to be up. */
  async finish(): Promise<void> {
    this.#isStopping = true
    await this.#workers
  }

  async #work(): Promise<void> {
    while (!this.#isStopping && this.sessions.length < this.#options.maxSessions) {
      const session: SentSession = { id: this.#hex(32), spans: new Map(), isCertain: true }
      this.sessions.push(session)
      for (const batch of this.#batches(session)) {
        if (!(await this.#deliver(session, batch))) break
      }
    }
  }

  /** Sends a batch until it is acknowledged; false if it was given up. */
  async #deliver(session: SentSession, batch: Span[]): Promise<boolean> {
    const { random, maxPauseMs = 0 } = this.#options
    await pause(random() * maxPauseMs)
    for (let failures = 0; !(await this.#post(batch)); failures++) {
      this.failedRequests += 1
      if (failures === 0 && random() < 0.1) {
        session.isCertain = false
        return false
      }
      await pause(RETRY_DELAY_MS)
    }
    this.acknowledgedRequests += 1
    for (const span of batch) {
      const sent = session.spans.get(span.spanId)!
      sent.isAcknowledged = true
      if (span.endNs !== null) sent.isEndAcknowledged = true
      sent.acknowledgedCopy = Math.max(sent.acknowledgedCopy, sent.copies.indexOf(hashOf(span)))
    }
    return true
  }

  async #post(batch: Span[]): Promise<boolean> {
    const isProtobuf = this.#options.random() < 0.5
    const isGzip = this.#options.random() < 0.3
    const body = isProtobuf ? spansToOtlpProtobuf(batch) : Buffer.from(JSON.stringify(spansToOtlpJson(batch)))
    const startedAtMs = performance.now()
    try {
      const response = await fetch(`${this.#nextUrl()}/v1/traces`, {
        method: 'POST',
        headers: {
          ...this.#options.headers,
          'content-type': isProtobuf ? 'application/x-protobuf' : 'application/json',
          ...(isGzip && { 'content-encoding': 'gzip' }),
        },
        body: new Uint8Array(isGzip ? gzipSync(body) : body),
      })
      const answer = await response.text()
      const isStored = response.status === 200 && (answer === '' || answer === '{}')
      const isRetryable = response.status === 503 && response.headers.has('retry-after')
      if (isStored) this.#options.onAcknowledged?.(performance.now() - startedAtMs)
      if (!isStored && !isRetryable) this.unexpected.push(`${response.status} ${answer}`)
      return isStored
    } catch {
      // The server was killed during this request: whether it is stored is unknown.
      return false
    }
  }

  #nextUrl(): string {
    const urls = [this.#options.url].flat()
    return urls[this.#below(urls.length)]!
  }

  #batches(session: SentSession): Span[][] {
    const root = this.#span(session, null, 0)
    const batches: Span[][] = [[open(root)]]
    const children = Array.from({ length: SPANS_PER_SESSION - 1 }, (_, index) =>
      this.#span(session, root.spanId, index + 1),
    )
    for (let start = 0; start < children.length; start += 4) {
      const group = children.slice(start, start + 4)
      if (this.#options.random() < 0.5) batches.push(group.map(open))
      batches.push(group)
      if (this.#options.random() < 0.2) batches.push(group)
      if (this.#options.random() < 0.2) batches.push(group.map(enriched))
    }
    batches.push([root])
    return batches
  }

  #span(session: SentSession, parentSpanId: string | null, index: number): Span {
    const isCall = index % 2 === 1
    const usage = isCall ? { input: 100 + this.#below(900), output: 1 + this.#below(200) } : undefined
    const spanId = this.#hex(16)
    const startNs = BigInt(Date.now()) * 1_000_000n + BigInt(index) * 1_000_000n
    const span: Span = {
      traceId: session.id,
      spanId,
      parentSpanId,
      isParentRemote: false,
      name: parentSpanId === null ? 'agent' : isCall ? 'chat gpt-4o-mini' : 'execute_tool lookup',
      kind: 1,
      startNs,
      endNs: startNs + 500_000n,
      statusCode: 0,
      statusMessage: '',
      attributes: attributes(
        usage === undefined
          ? { 'gen_ai.operation.name': parentSpanId === null ? 'invoke_agent' : 'execute_tool' }
          : {
              'gen_ai.operation.name': 'chat',
              'gen_ai.request.model': 'gpt-4o-mini',
              'gen_ai.response.id': `response-${spanId}`,
              'gen_ai.usage.input_tokens': usage.input,
              'gen_ai.usage.output_tokens': usage.output,
            },
      ),
      events: [],
      links: [],
      resource: attributes({ 'service.name': 'traffic' }),
      scope: { name: 'traffic', version: '1' },
    }
    const copies = [open(span), span, enriched(span)].map(hashOf)
    session.spans.set(spanId, {
      id: spanId,
      isAcknowledged: false,
      isEndAcknowledged: false,
      usage,
      copies,
      acknowledgedCopy: -1,
    })
    return span
  }

  #below(limit: number): number {
    return Math.floor(this.#options.random() * limit)
  }

  #hex(digits: number): string {
    return Array.from({ length: digits }, () => this.#below(16).toString(16)).join('')
  }
}

function attributes(entries: Attributes): Attributes {
  return entries
}

export function hashOf(span: Span): string {
  return createHash('sha1').update(spanText(span)).digest('base64url').slice(0, 16)
}

/** The span as its start event reports it. */
function open(span: Span): Span {
  const { 'gen_ai.usage.input_tokens': _, 'gen_ai.usage.output_tokens': __, ...known } = span.attributes
  return { ...span, endNs: null, attributes: known }
}

function enriched(span: Span): Span {
  return { ...span, attributes: { ...span.attributes, 'traffic.note': 'resent with more content' } }
}
