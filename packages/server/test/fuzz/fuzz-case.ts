import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { spansToOtlpJson, type Span } from '@playhead/model'
import * as fc from 'fast-check'
import { spansToOtlpProtobuf } from '../../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { anyAttributes, anySpan, anyText } from '../../src/ingest/test/arbitrary-span.ts'
import { anyDamage, anyReplacement, damageBytes, replaceInJson } from './damage.ts'
import { anyQuery } from './fuzz-queries.ts'

/** One request, and what is known about it. */
export type FuzzCase = {
  what: string
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: Buffer
  /** The frames that a gRPC call is sent in. */
  pieces?: number
  /** The spans that must be stored unchanged; undefined if the outcome is unknown. */
  spans?: Span[]
  /** How many other spans must be rejected by name. */
  badSpans?: number
}

export type Make = (ids: Ids) => FuzzCase

/** Ids that are unique to a case, so that reading back finds only its own spans. */
type Ids = { traceId: string; spanId: (index: number) => string }

/** Creates a batch of cases, always the same for the same arguments. */
export function makeCases(seed: number, batch: number, count: number): FuzzCase[] {
  return fc
    .sample(anyCase, { seed: (seed * 1_000_003 + batch) | 0, numRuns: count })
    .map((make, index) => make(idsOf(`${seed}/${batch}/${index}`)))
}

export function idsOf(text: string): Ids {
  const hash = (name: string) => createHash('sha256').update(`${text}/${name}`).digest('hex')
  return {
    traceId: hash('trace').slice(0, 32),
    spanId: (index) => hash(String(index)).slice(0, 16),
  }
}

const encoders = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync,
} as const
const anyFormat = fc.record({
  isJson: fc.boolean(),
  encoding: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.constant('gzip' as const) },
    { weight: 1, arbitrary: fc.constantFrom('deflate' as const, 'br' as const, 'zstd' as const) },
  ),
})
type Format = { isJson: boolean; encoding: keyof typeof encoders | undefined }

const recentTime = fc.bigInt({
  min: BigInt(Date.UTC(2026, 0)) * 1_000_000n,
  max: BigInt(Date.UTC(2026, 10)) * 1_000_000n,
})
/** Most spans are from this year, as in real life. Other tests cover the full range of times. */
const spanOfToday: fc.Arbitrary<Span> = fc
  .tuple(anySpan, recentTime, fc.nat({ max: 9 }))
  .map(([span, startNs, luck]) =>
    luck === 0 ? span : { ...span, startNs, endNs: span.endNs === null ? null : startNs + 1_000n },
  )
export const someSpans = fc.array(spanOfToday, { minLength: 1, maxLength: 6 })

/** Faults that must get a span rejected by name. */
export const anyFault: fc.Arbitrary<(span: Span) => Span> = fc.constantFrom<((span: Span) => Span)[]>(
  (span) => ({ ...span, traceId: '0'.repeat(32) }),
  (span) => ({ ...span, spanId: '0'.repeat(16) }),
  (span) => ({ ...span, startNs: 1n }),
  (span) => ({ ...span, endNs: 2n ** 63n }),
  (span) => ({ ...span, attributes: { deep: nested(70) } }),
)

function nested(levels: number): Span['attributes'][string] {
  let value: Span['attributes'][string] = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const anyPath = fc.constantFrom('/v1/traces', '/v1/traces/', '/api/public/otel/v1/traces', '/v1/traces?x=1')

const goodCase: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    faults: fc.array(anyFault, { maxLength: 2 }),
    format: anyFormat,
    path: anyPath,
  })
  .map(({ spans, faults, format, path }) => (ids) => {
    const { all, good } = spoiledSpans(withIds(spans, ids), faults, ids)
    return { what: 'spans', path, ...encode(all, format), spans: good, badSpans: all.length - good.length }
  })

/** Adds spans with faults between the good ones. */
export function spoiledSpans(good: Span[], faults: readonly ((span: Span) => Span)[], ids: Ids) {
  const bad = faults.map((spoil, index) =>
    spoil({ ...good[0]!, spanId: ids.spanId(100 + index), parentSpanId: null }),
  )
  const all = good.flatMap((span, index) => [...(bad[index] === undefined ? [] : [bad[index]]), span])
  return { all, good }
}

export function withIds(spans: readonly Span[], ids: Ids): Span[] {
  return spans.map((span, index) => ({
    ...span,
    traceId: ids.traceId,
    spanId: ids.spanId(index),
    // The parent is an earlier span, or one that is never sent.
    parentSpanId: index === 0 || span.parentSpanId === null ? null : ids.spanId(index - 1 - (index % 2) * 50),
  }))
}

type Sent = Pick<FuzzCase, 'method' | 'headers' | 'body'>

function encode(spans: readonly Span[], { isJson, encoding }: Format): Sent {
  const plain = isJson
    ? Buffer.from(JSON.stringify(spansToOtlpJson([...spans])))
    : spansToOtlpProtobuf([...spans])
  return {
    method: 'POST',
    headers: {
      'content-type': isJson ? 'application/json' : 'application/x-protobuf',
      ...(encoding !== undefined && { 'content-encoding': encoding }),
    },
    body: encoding === undefined ? plain : encoders[encoding](plain),
  }
}

const damagedBytes: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    format: anyFormat,
    damage: fc.array(anyDamage, { minLength: 1, maxLength: 5 }),
    path: fc.constantFrom('/v1/traces', '/v1/traces', '/v1/traces', '/v1/logs', '/v1/metrics'),
  })
  .map(({ spans, format, damage, path }) => (ids) => {
    const sent = encode(withIds(spans, ids), format)
    return { what: 'damaged bytes', path, ...sent, body: damageBytes(sent.body, damage) }
  })

const damagedJson: fc.Arbitrary<Make> = fc
  .record({ spans: someSpans, replacements: fc.array(anyReplacement, { minLength: 1, maxLength: 4 }) })
  .map(({ spans, replacements }) => (ids) => {
    const sent = encode(withIds(spans, ids), { isJson: true, encoding: undefined })
    const body = Buffer.from(replaceInJson(sent.body.toString(), replacements))
    return { what: 'strange JSON', path: '/v1/traces', ...sent, body }
  })

const anyLogs: fc.Arbitrary<Make> = fc
  .record({
    name: anyText,
    attributes: anyAttributes,
    body: anyText,
    replacements: fc.array(anyReplacement, { maxLength: 3 }),
  })
  .map(({ name, attributes, body, replacements }) => (ids) => {
    const logRecord = {
      traceId: ids.traceId,
      spanId: ids.spanId(0),
      timeUnixNano: '1780000000000000000',
      eventName: name,
      body: { stringValue: body },
      attributes: Object.keys(attributes).map((key) => ({
        key,
        value: { stringValue: JSON.stringify(attributes[key]) },
      })),
    }
    const json = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [logRecord] }] }] })
    return {
      what: 'logs',
      path: '/v1/logs',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(replaceInJson(json, replacements)),
    }
  })

const agentsItems: fc.Arbitrary<Make> = fc
  .record({ data: fc.jsonValue({ maxDepth: 4 }), replacements: fc.array(anyReplacement, { maxLength: 3 }) })
  .map(({ data, replacements }) => (ids) => {
    const item = {
      object: 'trace.span',
      id: `span_${ids.spanId(0)}`,
      trace_id: `trace_${ids.traceId}`,
      started_at: '2026-06-01T00:00:00Z',
      ended_at: '2026-06-01T00:00:01Z',
      span_data: { type: 'custom', name: 'fuzzed', data },
    }
    return {
      what: "OpenAI Agents' items",
      path: '/v1/traces/ingest',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(replaceInJson(JSON.stringify({ data: [item] }), replacements)),
    }
  })

const wrongHeaders: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    format: anyFormat,
    type: fc.constantFrom('', 'text/plain', 'application/json; charset=utf-16', 'application/x-protobuf'),
    encoding: fc.constantFrom('', 'gzip', 'lzma', 'gzip, gzip', 'br', 'zstd', 'deflate'),
  })
  .map(({ spans, format, type, encoding }) => (ids) => {
    const sent = encode(withIds(spans, ids), format)
    const headers = { 'content-type': type, 'content-encoding': encoding }
    return { what: 'wrong headers', path: '/v1/traces', ...sent, headers }
  })

const questions: fc.Arbitrary<Make> = anyQuery.map((path) => () => ({
  what: 'a query',
  method: 'GET',
  path,
  headers: {},
  body: Buffer.alloc(0),
}))

const anyCase: fc.Arbitrary<Make> = fc.oneof(
  { weight: 30, arbitrary: goodCase },
  { weight: 30, arbitrary: damagedBytes },
  { weight: 15, arbitrary: damagedJson },
  { weight: 8, arbitrary: anyLogs },
  { weight: 7, arbitrary: agentsItems },
  { weight: 5, arbitrary: wrongHeaders },
  { weight: 5, arbitrary: questions },
)
