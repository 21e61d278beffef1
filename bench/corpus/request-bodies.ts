import { spansToOtlpJson, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../../packages/server/src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { Corpus, SPAN_BYTES, SPANS_PER_SESSION } from './corpus.ts'

export const SPANS_PER_REQUEST = 100

/** A request that is ready to send. Call `release` when its bytes may be reused. */
export type Parcel = { bytes: Buffer; sessionIds: () => string[]; release: () => void }

export type BodyFormat = 'protobuf' | 'json'

/** The positions of ids in a body, and their original first 32 bits. */
type IdPlaces = { offsets: Int32Array; originals: Int32Array }
type Body = { bytes: Buffer; binary: IdPlaces; text: IdPlaces; sessionIds: string[] }

/**
 * Requests that are encoded beforehand, so that the load generator uses little of the cores it shares with the server. Every
 * time a body is used, all its trace, span and response ids are replaced.
 */
export class RequestBodies {
  readonly #free: Body[]
  #used = 0

  constructor(options: {
    format: BodyFormat
    count: number
    seed: number
    onProgress: (share: number) => void
  }) {
    const corpus = new Corpus(options.seed)
    const nowMs = Date.now()
    this.#free = Array.from({ length: options.count }, (_, index) => {
      options.onProgress(index / options.count)
      const sessions = Array.from({ length: SPANS_PER_REQUEST / SPANS_PER_SESSION }, () =>
        corpus.createSession(nowMs - 60_000),
      )
      return createBody(sessions.flat(), options.format)
    })
    if (options.format === 'protobuf') checkSize(this.#free)
  }

  /** Undefined while all bodies are in use. */
  next(): Parcel | undefined {
    const body = this.#free.shift()
    if (body === undefined) return undefined
    this.#used += 1
    // An odd factor never repeats a change, and a large one spreads new sessions over the order of the table.
    const change = Math.imul(this.#used, 0x9e3779b1)
    patch(body, change)
    return {
      bytes: body.bytes,
      sessionIds: () =>
        body.sessionIds.map((id) => hexOf(Number.parseInt(id.slice(0, 8), 16) ^ change) + id.slice(8)),
      release: () => this.#free.push(body),
    }
  }
}

function createBody(spans: Span[], format: BodyFormat): Body {
  const bytes =
    format === 'protobuf'
      ? Buffer.from(spansToOtlpProtobuf(spans))
      : Buffer.from(JSON.stringify(spansToOtlpJson(spans)))
  const traceIds = [...new Set(spans.map((span) => span.traceId))]
  const spanIds = spans.map((span) => span.spanId)
  const ids = [...traceIds, ...spanIds]
  const responseIds = spans.flatMap((span) => {
    const id = span.attributes['gen_ai.response.id']
    return typeof id === 'string' ? [id.slice(id.search(/[-_]/) + 1)] : []
  })
  return {
    bytes,
    binary: findIds(bytes, format === 'protobuf' ? ids : [], 'hex'),
    text: findIds(bytes, format === 'protobuf' ? responseIds : [...ids, ...responseIds], 'latin1'),
    sessionIds: traceIds,
  }
}

function findIds(bytes: Buffer, ids: readonly string[], encoding: 'hex' | 'latin1'): IdPlaces {
  const offsets: number[] = []
  const originals: number[] = []
  for (const id of ids) {
    const needle = Buffer.from(id, encoding)
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) {
      offsets.push(at)
      originals.push(Number.parseInt(id.slice(0, 8), 16) | 0)
    }
  }
  return { offsets: Int32Array.from(offsets), originals: Int32Array.from(originals) }
}

function patch({ bytes, binary, text }: Body, change: number): void {
  for (let index = 0; index < binary.offsets.length; index++)
    bytes.writeInt32BE(binary.originals[index]! ^ change, binary.offsets[index])
  for (let index = 0; index < text.offsets.length; index++)
    writeHex(bytes, text.offsets[index]!, text.originals[index]! ^ change)
}

const digits = Buffer.from('0123456789abcdef')

function writeHex(bytes: Buffer, offset: number, value: number): void {
  for (let digit = 0; digit < 8; digit++) bytes[offset + digit] = digits[(value >>> (28 - 4 * digit)) & 15]!
}

function hexOf(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** Figures are only comparable for spans of the same size, so the corpus must not drift. */
function checkSize(bodies: readonly Body[]): void {
  const bytes = bodies.reduce((sum, body) => sum + body.bytes.length, 0) / (bodies.length * SPANS_PER_REQUEST)
  if (Math.abs(bytes - SPAN_BYTES) > SPAN_BYTES / 20)
    throw new Error(`a span of the corpus weighs ${Math.round(bytes)} bytes, and should weigh ${SPAN_BYTES}`)
}
