import { SpanStatusCode, type Attributes } from '@opentelemetry/api'
import { createRedactor } from '@playhead/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeSpans } from '../../playhead/src/deliver/encode-spans.ts'
import { createProvider } from '../../playhead/src/record/opentelemetry/own-tracer.ts'
import type { RecordedSpan } from '../../playhead/src/record/opentelemetry/recorded-span.ts'
import { SpanSanitizer } from '../../playhead/src/record/opentelemetry/span-sanitizer.ts'
import { hostileArguments, hostileValue } from '../../playhead/test/hostile/hostile-values.ts'
import { decodeTraces } from '../src/ingest/http/decode-otlp.ts'

const options = { redactor: createRedactor(), hasRules: false, isContentKept: true }
const sanitizer = new SpanSanitizer({ ...options, maxLength: 10_000 })
const unlimited = new SpanSanitizer({ ...options, maxLength: Infinity })

const tracer = createProvider(
  { onStart: () => undefined, onEnd: () => undefined },
  { serviceName: 'agent', environment: undefined, resource: {} },
).getTracer('playhead')

test('the server reads whatever the SDK encodes, and an innocent step beside it', () => {
  const innocent = tracer.startSpan('innocent', { attributes: { kept: 'yes' } })
  innocent.end()
  const property = fc.property(hostileValue, hostileArguments, (makeValue, makeArguments) => {
    const span = tracer.startSpan(makeValue() as string, makeValue() as object)
    for (const [index, value] of makeArguments().entries()) {
      span.setAttribute(`value ${index}`, value)
      span.addEvent(value as string, value as Attributes)
      span.setStatus({ code: SpanStatusCode.ERROR, message: value as string })
      span.addLink(value as never)
    }
    span.end(makeValue() as number)
    const { bytes, failed } = encodeSpans([span, innocent] as unknown as RecordedSpan[], sanitizer)
    const { items, rejected } = decodeTraces(Buffer.from(bytes), 'protobuf')
    expect({ failed, rejected, ids: items.map(({ spanId }) => spanId) }).toEqual({
      failed: [],
      rejected: [],
      ids: [span.spanContext().spanId, innocent.spanContext().spanId],
    })
    expect(items[1]).toMatchObject({ name: 'innocent', attributes: { kept: 'yes' } })
  })
  fc.assert(property, { numRuns: 300, seed: 15, endOnFailure: true })
})

test('the server reads values of every kind and length as the SDK recorded them', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.nat(20_000).map((length) => 'ä'.repeat(length)),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(fc.string({ unit: 'grapheme' })),
  )
  const seconds = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 })
  const nanoseconds = fc.nat(999_999_999)
  const property = fc.property(fc.array(value), seconds, nanoseconds, (values, second, nanosecond) => {
    const attributes = Object.fromEntries(values.map((one, index) => [`value ${index}`, one]))
    const span = tracer.startSpan('step', { attributes, startTime: [second, nanosecond] })
    span.end([second, nanosecond])
    const { bytes } = encodeSpans([span as unknown as RecordedSpan], unlimited)
    const { items, rejected } = decodeTraces(Buffer.from(bytes), 'protobuf')
    expect(rejected).toEqual([])
    const startNs = BigInt(second) * 1_000_000_000n + BigInt(nanosecond)
    expect(items).toMatchObject([{ startNs, endNs: startNs, attributes }])
  })
  fc.assert(property, { numRuns: 300, seed: 15, endOnFailure: true })
})
