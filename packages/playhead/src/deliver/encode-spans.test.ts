import { createRedactor, spansToOtlpJson } from '@playhead/model'
import { SpanStatusCode } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { toModelSpan } from '../record/opentelemetry/to-model-span.ts'
import { decodeOtlp } from '../../test/decode-otlp.ts'
import { encodeSpans } from './encode-spans.ts'
import { SpanSanitizer } from '../record/opentelemetry/span-sanitizer.ts'

const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'support', pid: 7 }),
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
})

function sanitizer(change: Partial<ConstructorParameters<typeof SpanSanitizer>[0]> = {}) {
  return new SpanSanitizer({
    redactor: createRedactor(),
    hasRules: false,
    maxLength: 1000,
    isContentKept: true,
    ...change,
  })
}

function encodedText(span: RecordedSpan, by = sanitizer()): string {
  return JSON.stringify(decodeOtlp(encodeSpans([span], by).bytes))
}

function spans(): RecordedSpan[] {
  exporter.reset()
  const tracer = provider.getTracer('host', '1.0')
  const parent = tracer.startSpan('parent', {
    startTime: [1_800_000_000, 7],
    attributes: { text: 'say "hi" 🎬', count: 3, ratio: 0.5, isOn: true, list: ['a', 'b'] },
  })
  parent.addEvent('tick', { at: 1 }, [1_800_000_000, 999_999_999])
  parent.addLink({ context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 } })
  parent.setStatus({ code: SpanStatusCode.ERROR, message: 'no' })
  provider
    .getTracer('other')
    .startSpan('alone', { startTime: [1_800_000_001, 0] })
    .end([1_800_000_002, 0])
  parent.end([1_800_000_001, 123_456_789])
  return exporter.getFinishedSpans()
}

test('the encoded spans equal those that the model writes', () => {
  const recorded = spans()
  const decoded = decodeOtlp(encodeSpans(recorded, sanitizer()).bytes)
  const byModel = spansToOtlpJson(recorded.map((span) => toModelSpan(span, sanitizer())))
  expect(withDefaults(decoded)).toEqual(withDefaults(JSON.parse(JSON.stringify(byModel))))
})

/** OTLP allows omitting defaults and writing integers as text. */
function withDefaults(payload: unknown): unknown {
  const text = JSON.stringify(payload, (key, value: unknown) => {
    if (key === 'intValue') return String(value)
    if (key === 'scope') return { version: '', ...(value as object) }
    if (typeof value === 'object' && value !== null && 'spanId' in value && 'kind' in value)
      return { attributes: [], events: [], links: [], status: {}, ...value }
    return typeof value === 'object' && value !== null && 'traceId' in value && !('kind' in value)
      ? { ...value, attributes: [] }
      : value
  })
  return JSON.parse(text)
}

test('a running step has no end time', () => {
  const span = provider.getTracer('host').startSpan('running') as unknown as RecordedSpan
  expect(encodedText(span)).not.toContain('endTimeUnixNano')
})

test('secrets and long values of any instrumentation are redacted and truncated', () => {
  const span = provider.getTracer('host').startSpan('call sk-aaaaaaaaaaaaaaaaaaaaaaaa', {
    attributes: {
      'http.request.header.authorization': 'Bearer abc',
      body: '{"api_key":"hunter2","q":1}',
      long: 'x'.repeat(5000),
      nested: { password: 'p', list: ['ghp_0123456789abcdefghijABCDEFGHIJ012345'] },
    },
  }) as unknown as RecordedSpan
  const text = encodedText(span)
  expect(text).not.toMatch(/hunter2|Bearer abc|sk-aaaa|ghp_0123|"p"/)
  expect(text).toContain('[1000 of 5000 characters]')
  expect(text).toContain('{"key":"playhead.truncated","value":{"boolValue":true}}')
})

test('numbers and event names are redacted, too', () => {
  const tracer = provider.getTracer('host')
  const span = tracer.startSpan('pay', { attributes: { 'app.cvv': 737_191, count: 42 } })
  span.addEvent('used sk-aaaaaaaaaaaaaaaaaaaaaaaa')
  const recorded = span as unknown as RecordedSpan
  const shown = JSON.stringify(toModelSpan(recorded, sanitizer()), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const text of [encodedText(recorded), shown]) {
    expect(text).toContain('42')
    expect(text).not.toMatch(/737191|sk-aaaa/)
  }
})

test('without content, the messages of other instrumentation are dropped', () => {
  const span = provider.getTracer('ai').startSpan('ai.generateText', {
    attributes: {
      'ai.prompt': 'the secret question',
      'gen_ai.output.messages': '[{"role":"assistant","content":"the secret answer"}]',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 12,
      'app.note': 'the secret '.repeat(30),
    },
  }) as unknown as RecordedSpan
  const text = encodedText(span, sanitizer({ isContentKept: false }))
  expect(text).not.toContain('secret')
  expect(text).toContain('gpt-4o')
  expect(text).toContain('12')
})

test('a span that can not be encoded is left out and named; the others are encoded', () => {
  const [first, second] = spans()
  const broken = { ...second!, spanContext: () => ({ traceId: 1n }) } as unknown as RecordedSpan
  const { bytes, failed } = encodeSpans([first!, broken], sanitizer())
  expect(bytes).toEqual(encodeSpans([first!], sanitizer()).bytes)
  expect(failed).toEqual([{ span: broken, error: expect.any(TypeError) as unknown }])
})

test('a bad field of the host costs only itself', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const [alone] = spans()
  const hostile = {
    ...alone!,
    name: 4711,
    kind: 'client',
    startTime: [Number.NaN, 'x'],
    attributes: { kept: 'yes', circular },
    spanContext: () => alone!.spanContext(),
  } as unknown as RecordedSpan
  const { bytes, failed } = encodeSpans([hostile], sanitizer())
  const [span] = decodeOtlp(bytes).resourceSpans![0]!.scopeSpans![0]!.spans!
  expect({ failed, name: span!.name, kind: span!.kind, kept: span!.attributes![0] }).toEqual({
    failed: [],
    name: '4711',
    kind: 1,
    kept: { key: 'kept', value: { stringValue: 'yes' } },
  })
})
