import { deflateSync, gzipSync } from 'node:zlib'
import type { Span } from '@playhead/model'
import * as fc from 'fast-check'
import { spansToOtlpProtobuf } from '../../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { anyDamage, damageBytes } from './damage.ts'
import { idsOf, someSpans, spoiledSpans, withIds, anyFault, type FuzzCase, type Make } from './fuzz-case.ts'

const service = (name: string) =>
  `/opentelemetry.proto.collector.${name.toLowerCase()}.v1.${name}Service/Export`
const TRACES = service('Trace')

/** Creates a batch of gRPC calls, always the same for the same arguments. */
export function makeGrpcCases(seed: number, batch: number, count: number): FuzzCase[] {
  return fc
    .sample(anyCall, { seed: (seed * 1_000_033 + batch) | 0, numRuns: count })
    .map((make, index) => make(idsOf(`grpc/${seed}/${batch}/${index}`)))
}

const encoders = { identity: (bytes: Buffer) => bytes, gzip: gzipSync, deflate: deflateSync }
type Encoding = keyof typeof encoders
const anyEncoding = fc.constantFrom<Encoding[]>('identity', 'identity', 'gzip', 'gzip', 'deflate')
const anyPieces = fc.constantFrom(1, 1, 1, 2, 7, 50)

/** What SDKs, proxies and strangers put in the headers. */
const anyHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Record<string, string>[]>(
      { 'grpc-timeout': '10S' },
      { 'grpc-timeout': 'soon' },
      { 'user-agent': 'x'.repeat(4_000) },
      { 'trace-bin': '////' },
      { 'x-api-key': 'ph_unknown' },
      { authorization: 'Bearer' },
      { 'content-encoding': 'gzip' },
    ),
  },
)

function call(
  path: string,
  message: Buffer,
  encoding: Encoding,
): Pick<FuzzCase, 'method' | 'path' | 'headers' | 'body'> {
  const isCompressed = encoding !== 'identity'
  const headers = { 'content-type': 'application/grpc', ...(isCompressed && { 'grpc-encoding': encoding }) }
  return { method: 'POST', path, headers, body: frame(encoders[encoding](message), isCompressed) }
}

function frame(message: Buffer, isCompressed: boolean): Buffer {
  const prefix = Buffer.from([isCompressed ? 1 : 0, 0, 0, 0, 0])
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

const protobuf = (spans: readonly Span[]) => spansToOtlpProtobuf([...spans])

const goodCall: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    faults: fc.array(anyFault, { maxLength: 2 }),
    encoding: anyEncoding,
    headers: anyHeaders,
    pieces: anyPieces,
  })
  .map(({ spans, faults, encoding, headers, pieces }) => (ids) => {
    const { all, good } = spoiledSpans(withIds(spans, ids), faults, ids)
    const sent = call(TRACES, protobuf(all), encoding)
    const badSpans = all.length - good.length
    return {
      what: 'gRPC spans',
      ...sent,
      headers: { ...headers, ...sent.headers },
      pieces,
      spans: good,
      badSpans,
    }
  })

/** A valid frame around damaged bytes. */
const damagedMessage: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    encoding: anyEncoding,
    damage: fc.array(anyDamage, { minLength: 1, maxLength: 5 }),
    isDamagedFirst: fc.boolean(),
    path: fc.constantFrom(TRACES, TRACES, TRACES, service('Logs'), service('Metrics')),
    pieces: anyPieces,
  })
  .map(({ spans, encoding, damage, isDamagedFirst, path, pieces }) => (ids) => {
    const message = protobuf(withIds(spans, ids))
    const sent = call(path, isDamagedFirst ? damageBytes(message, damage) : message, encoding)
    if (isDamagedFirst) return { what: 'a damaged gRPC message', ...sent, pieces }
    const inner = damageBytes(sent.body.subarray(5), damage)
    return {
      what: 'damaged compression in gRPC',
      ...sent,
      body: frame(inner, encoding !== 'identity'),
      pieces,
    }
  })

/** Prefixes that lie, messages that end early, more than one message. */
const damagedFrame: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    encoding: anyEncoding,
    damage: fc.array(anyDamage, { minLength: 1, maxLength: 3 }),
    copies: fc.constantFrom(0, 1, 1, 2),
    prefix: fc.option(fc.uint8Array({ minLength: 0, maxLength: 5 })),
    pieces: anyPieces,
  })
  .map(({ spans, encoding, damage, copies, prefix, pieces }) => (ids) => {
    const sent = call(TRACES, protobuf(withIds(spans, ids)), encoding)
    const whole = Buffer.concat(Array.from({ length: copies }, () => sent.body))
    const body =
      prefix === null ? damageBytes(whole, damage) : Buffer.concat([prefix, whole.subarray(prefix.length)])
    return { what: 'a damaged gRPC frame', ...sent, body, pieces }
  })

const wrongHeaders: fc.Arbitrary<Make> = fc
  .record({
    spans: someSpans,
    encoding: anyEncoding,
    path: fc.constantFrom(TRACES, '/', '/v1/traces', '/__proto__', `${TRACES}/`, service('Profiles')),
    headers: fc.constantFrom<Record<string, string>[]>(
      { 'grpc-encoding': 'snappy' },
      { 'grpc-encoding': '' },
      { 'grpc-encoding': 'zstd' },
      { 'content-type': 'application/grpc+proto' },
      { 'content-type': 'application/grpc-web' },
      { 'content-type': 'application/json' },
      { 'x-playhead-project': 'nowhere' },
    ),
  })
  .map(({ spans, encoding, path, headers }) => (ids) => {
    const sent = call(path, protobuf(withIds(spans, ids)), encoding)
    return { what: 'gRPC with wrong headers', ...sent, pieces: 1, headers: { ...sent.headers, ...headers } }
  })

const anyCall: fc.Arbitrary<Make> = fc.oneof(
  { weight: 35, arbitrary: goodCall },
  { weight: 35, arbitrary: damagedMessage },
  { weight: 20, arbitrary: damagedFrame },
  { weight: 10, arbitrary: wrongHeaders },
)
