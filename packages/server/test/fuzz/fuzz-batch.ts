import { Agent, request } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync, inflateRawSync, inflateSync, brotliDecompressSync, zstdDecompressSync } from 'node:zlib'
import type { Span } from '@playhead/model'
import { decodeTraces, formatOf } from '../../src/ingest/http/decode-otlp.ts'
import { spanText } from '../span-text.ts'
import type { FuzzCase } from './fuzz-case.ts'
import { GrpcChannel } from './grpc-channel.ts'

export type Violation = { case: FuzzCase; problem: string }

type Reply = {
  status: number
  text: string
  bytes: Buffer
  contentType: string | undefined
  retryAfter: string | undefined
}

const CONNECTIONS = 8
const allowed = new Set([200, 400, 401, 404, 405, 408, 409, 411, 413, 414, 415, 431])

/** Sends requests to a server and checks that its guarantees still hold. */
export class Fuzzer {
  /** May change between two batches. */
  url: string
  /** One in this many cases with known spans is read back from the API; all of them are counted. */
  readBackEvery = 6
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  #grpc: GrpcChannel | undefined
  readonly statuses = new Map<number, number>()
  spansAcknowledged = 0
  spansReadBack = 0

  constructor(url: string) {
    this.url = url
  }

  /** Where cases of gRPC go. */
  set grpcAddress(address: string) {
    this.#grpc?.close()
    this.#grpc = new GrpcChannel(address)
  }

  close(): void {
    this.#agent.destroy()
    this.#grpc?.close()
  }

  /** Sends the cases and returns every violation. */
  async run(cases: readonly FuzzCase[]): Promise<Violation[]> {
    const before = await this.#counters()
    const violations: Violation[] = []
    const expected = { stored: 0, rejected: 0 }
    // Queries come last: each one flushes the log, and flushing a few rows at a time is slow.
    const queue = cases.toSorted(
      (left, right) => Number(left.method === 'GET') - Number(right.method === 'GET'),
    )
    const work = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const verdict = await this.#tryOne(next)
        expected.stored += verdict.stored
        expected.rejected += verdict.rejected
        if (verdict.problem !== undefined) violations.push({ case: next, problem: verdict.problem })
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    const after = await this.#counters()
    const counted = { stored: after.stored - before.stored, rejected: after.rejected - before.rejected }
    if (violations.length === 0 && !isDeepStrictEqual(counted, expected))
      violations.push({
        case: cases[0]!,
        problem: `the batch that starts here counted ${JSON.stringify(counted)}, not ${JSON.stringify(expected)}`,
      })
    this.spansAcknowledged += counted.stored
    return [...violations, ...(await this.#readBack(cases))]
  }

  async #tryOne(one: FuzzCase): Promise<{ stored: number; rejected: number; problem?: string }> {
    const nothing = { stored: 0, rejected: 0 }
    const reply = await this.send(one).catch((error: Error) => error)
    if (reply instanceof Error) return { ...nothing, problem: `no response: ${reply.message}` }
    this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1)
    if (!allowed.has(reply.status))
      return { ...nothing, problem: `${reply.status}: ${reply.text.slice(0, 300)}` }
    if (one.method === 'GET' || !isTraces(one)) return { ...nothing, ...countAgents(one, reply) }
    const expected = expectedOf(one)
    if (reply.status !== 200)
      return {
        ...nothing,
        ...(expected !== undefined && { problem: `${reply.status}, although it is valid: ${reply.text}` }),
      }
    const rejected = rejectedIn(reply)
    if (expected === undefined) return { stored: 0, rejected, problem: '200, although it is not valid' }
    return {
      stored: expected.stored,
      rejected,
      ...(rejected !== expected.rejected && {
        problem: `${rejected} rejected, not ${expected.rejected}: ${reply.text}`,
      }),
    }
  }

  /** Sends a request, and retries it on 503. */
  async send(one: Omit<FuzzCase, 'what'>): Promise<Reply> {
    const { method, path, headers, body } = one
    for (let attempt = 0; ; attempt++) {
      const reply = isGrpc(one)
        ? await this.#grpc!.send(one)
        : await this.#sendOnce(method, path, { headers, body })
      if (reply.status !== 503 || reply.retryAfter === undefined || attempt === 20) return reply
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }

  #sendOnce(
    method: string,
    path: string,
    { headers, body }: Pick<FuzzCase, 'headers' | 'body'>,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.url}${path}`,
        { method, agent: this.#agent, headers: { ...headers, 'content-length': body.length } },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const bytes = Buffer.concat(chunks)
            resolve({
              status: response.statusCode ?? 0,
              bytes,
              text: bytes.toString(),
              contentType: response.headers['content-type'],
              retryAfter: response.headers['retry-after'],
            })
          })
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  async #counters(): Promise<{ stored: number; rejected: number }> {
    const { text } = await this.#sendOnce('GET', '/metrics', { headers: {}, body: Buffer.alloc(0) })
    const read = (name: string) => Number(new RegExp(`^playhead_${name} (\\d+)$`, 'm').exec(text)?.[1])
    return { stored: read('spans_stored_total'), rejected: read('spans_rejected_total') }
  }

  async #readBack(cases: readonly FuzzCase[]): Promise<Violation[]> {
    const violations: Violation[] = []
    const known = cases.filter((one) => one.spans !== undefined)
    const read = known
      .filter((_, index) => index % this.readBackEvery === 0)
      .map(async (one) => {
        const problem = await this.#readOne(one.spans!).catch((error: Error) => error.message)
        if (problem !== undefined) violations.push({ case: one, problem })
      })
    await Promise.all(read)
    return violations
  }

  /** On a machine that is too busy, readers see what is stored already instead of waiting longer than ten seconds. */
  async #readWithPatience(path: string): Promise<Reply> {
    for (let attempt = 0; ; attempt++) {
      const reply = await this.#sendOnce('GET', path, { headers: {}, body: Buffer.alloc(0) })
      if (reply.status !== 404 || attempt === 10) return reply
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }

  async #readOne(spans: readonly Span[]): Promise<string | undefined> {
    const path = `/api/sessions/${spans[0]!.traceId}/recording.otlp`
    const { status, text, bytes } = await this.#readWithPatience(path)
    if (status !== 200) return `could not read it back: ${status} ${text.slice(0, 300)}`
    const stored = new Map(decodeTraces(bytes, 'json').items.map((span) => [span.spanId, span]))
    if (stored.size !== spans.length) return `${spans.length} spans were sent, ${stored.size} are stored`
    const other = spans.find((span) => spanText(stored.get(span.spanId)) !== spanText(span))
    this.spansReadBack += spans.length
    if (other === undefined) return undefined
    return `${spanText(stored.get(other.spanId))} is stored, not ${spanText(other)}`
  }
}

function isTraces(one: FuzzCase): boolean {
  if (!isGrpc(one)) return /\/v1\/traces\/?(\?.*)?$/.test(one.path)
  const isGrpcType = /^application\/grpc(\+proto)?$/.test(one.headers['content-type'] ?? '')
  return isGrpcType && one.path.endsWith('.TraceService/Export')
}

function isGrpc({ pieces }: Pick<FuzzCase, 'pieces'>): boolean {
  return pieces !== undefined
}

/** How many spans must be stored and rejected; undefined if the whole body must be refused. */
function expectedOf(one: FuzzCase): { stored: number; rejected: number } | undefined {
  if (one.spans !== undefined) return { stored: one.spans.length, rejected: one.badSpans ?? 0 }
  try {
    const type = one.headers['content-type'] ?? ''
    if (isGrpc(one)) {
      const { items, rejected } = decodeTraces(unframe(one), 'protobuf')
      return { stored: items.length, rejected: rejected.length }
    }
    const body = inflate(one)
    const { items, rejected } = decodeTraces(body, formatOf(body, type))
    return { stored: items.length, rejected: rejected.length }
  } catch {
    return undefined
  }
}

/** The message of a gRPC call; throws unless it is one, and whole. */
function unframe({ headers, body }: FuzzCase): Buffer {
  const message = body.subarray(5)
  const isAllowed = headers['x-playhead-project'] === undefined && body.length >= 5 && body[0]! <= 1
  if (!isAllowed || body.readUInt32BE(1) !== message.length) throw new Error('not one whole message')
  if (body[0] === 0) return message
  return inflate({ headers: { 'content-encoding': headers['grpc-encoding'] || 'none' }, body: message })
}

function inflate({ headers, body }: Pick<FuzzCase, 'headers' | 'body'>): Buffer {
  switch (headers['content-encoding'] ?? '') {
    case '':
      return body
    case 'gzip':
      return gunzipSync(body)
    case 'deflate':
      return inflateEither(body)
    case 'br':
      return brotliDecompressSync(body)
    case 'zstd':
      return zstdDecompressSync(body)
    default:
      throw new Error('unknown encoding')
  }
}

/** Some senders leave out the zlib header. */
function inflateEither(body: Buffer): Buffer {
  try {
    return inflateSync(body)
  } catch {
    return inflateRawSync(body)
  }
}

function rejectedIn({ contentType, text, bytes }: Reply): number {
  if (contentType === 'application/x-protobuf') {
    // partial_success (field 1) begins with rejected_spans (field 1), a number of one or two bytes here.
    if (bytes.length === 0) return 0
    const at = bytes[1]! < 0x80 ? 2 : 3
    if (bytes[0] !== 0x0a || bytes[at] !== 0x08) return Number.NaN
    const low = bytes[at + 1]!
    return low < 0x80 ? low : (low & 0x7f) + (bytes[at + 2]! << 7)
  }
  const reply = JSON.parse(text) as { partialSuccess?: { rejectedSpans: string } }
  return Number(reply.partialSuccess?.rejectedSpans ?? 0)
}

/** Items of OpenAI Agents count as spans too; the response lists the rejected ones. */
function countAgents(one: FuzzCase, { status, text }: Reply): { stored: number; rejected: number } {
  if (status !== 200 || !one.path.endsWith('/v1/traces/ingest')) return { stored: 0, rejected: 0 }
  const { rejected } = JSON.parse(text) as { rejected: unknown[] }
  const items = (JSON.parse(one.body.toString()) as { data?: unknown[] }).data ?? []
  return { stored: items.length - rejected.length, rejected: rejected.length }
}
