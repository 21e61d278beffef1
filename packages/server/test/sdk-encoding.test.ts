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

const sanitizer = new SpanSanitizer({
  redactor: createRedactor(),
  hasRules: false,
  maxLength: 10_000,
  isContentKept: true,
})

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
    const { text, failed } = encodeSpans([span, innocent] as unknown as RecordedSpan[], sanitizer)
    const { items, rejected } = decodeTraces(Buffer.from(text), 'json')
    expect({ failed, rejected, ids: items.map(({ spanId }) => spanId) }).toEqual({
      failed: [],
      rejected: [],
      ids: [span.spanContext().spanId, innocent.spanContext().spanId],
    })
    expect(items[1]).toMatchObject({ name: 'innocent', attributes: { kept: 'yes' } })
  })
  fc.assert(property, { numRuns: 300, seed: 15, endOnFailure: true })
})
