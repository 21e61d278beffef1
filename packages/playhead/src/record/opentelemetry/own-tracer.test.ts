import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { beforeAll, expect, test } from 'vitest'
import { createProvider } from './own-tracer.ts'
import type { RecordedSpan } from './recorded-span.ts'

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
})

/** Our provider, and the spans that it ended. */
function ownProvider(environment: Record<string, string> = {}) {
  const ended: RecordedSpan[] = []
  const observer = { onStart: () => undefined, onEnd: (span: RecordedSpan) => void ended.push(span) }
  Object.assign(process.env, environment)
  const provider = createProvider(observer, {
    serviceName: undefined,
    environment: undefined,
    resource: {},
  })
  for (const name of Object.keys(environment)) delete process.env[name]
  return { provider, ended }
}

/** The same with OpenTelemetry's own SDK. */
function otelProvider() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({}),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  })
  return { provider, ended: exporter.getFinishedSpans() }
}

const later = new Date(1_800_000_003_000)

/** Everything that instrumentation does to a span, including invalid calls. */
function use(span: Span): void {
  const shared = { name: 'Ada' }
  span.setAttribute('text', 'hi').setAttribute('count', 3).setAttribute('isOn', true)
  span.setAttributes({ list: ['a', 'b'], shared, bytes: new Uint8Array([1]), none: null })
  span.setAttributes({ big: 1n, fn: () => 1, date: later, gone: undefined })
  span.setAttribute('text', 'again')
  shared.name = 'changed later'
  span.addEvent('tick', { at: 1 }, [1_800_000_001, 5])
  span.addEvent('tock', later)
  span.recordException(Object.assign(new RangeError('no'), { stack: 'where' }), later)
  span.recordException('only words', later)
  span.addLink({ context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 } })
  span.setStatus({ code: SpanStatusCode.UNSET })
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'first' })
  span.setStatus({ code: SpanStatusCode.OK, message: 'not kept' })
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'too late' })
  span.updateName('renamed')
  span.end([1_800_000_002, 7])
  span
    .setAttribute('after', 1)
    .addEvent('after')
    .updateName('after')
    .setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

function visible(span: RecordedSpan, all: readonly RecordedSpan[]) {
  const { name, kind, attributes, events, links, status, startTime, endTime, ended, parentSpanContext } = span
  return {
    name,
    kind,
    attributes,
    events: events.map((event) => ({
      name: event.name,
      time: event.time,
      attributes: event.attributes ?? {},
    })),
    links: links.map((link) => link.context),
    status,
    startTime,
    endTime,
    ended,
    parent: parentOf(parentSpanContext?.spanId, all),
    flags: span.spanContext().traceFlags,
    isIdSound: trace.isSpanContextValid(span.spanContext()),
  }
}

/** The name of the parent, because ids are random. */
function parentOf(id: string | undefined, all: readonly RecordedSpan[]): string {
  if (id === undefined) return 'none'
  return all.find((span) => span.spanContext().spanId === id)?.name ?? 'remote'
}

test("our spans equal those of OpenTelemetry's SDK", () => {
  const parent = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 1, isRemote: true }
  const [ours, theirs] = [ownProvider(), otelProvider()].map(({ provider, ended }) => {
    const tracer = provider.getTracer('host', '1.0')
    const start = { startTime: [1_800_000_000, 3] as [number, number], kind: SpanKind.CLIENT }
    use(
      tracer.startSpan(
        'one',
        { ...start, attributes: { first: 1 } },
        trace.setSpanContext(ROOT_CONTEXT, parent),
      ),
    )
    use(tracer.startSpan('rooted', { ...start, root: true }, trace.setSpanContext(ROOT_CONTEXT, parent)))
    tracer.startActiveSpan('outer', { startTime: later }, (outer) => {
      tracer.startSpan('inner', { startTime: later }).end(later)
      outer.end(1_700_000_000_000)
    })
    return (ended as RecordedSpan[]).map((span) => visible(span, ended as RecordedSpan[]))
  })
  expect(ours).toEqual(theirs)
  expect(ours!.map(({ name, parent: of }) => [name, of])).toEqual([
    ['renamed', 'remote'],
    ['renamed', 'none'],
    ['inner', 'outer'],
    ['outer', 'none'],
  ])
})

test('nothing is recorded while tracing is suppressed', () => {
  const { provider, ended } = ownProvider()
  const suppressed = ROOT_CONTEXT.setValue(
    createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'),
    true,
  )
  const span = provider.getTracer('host').startSpan('own request', {}, suppressed)
  span.end()
  expect([span.isRecording(), ended]).toEqual([false, []])
})

test('unreadable values do not make a span throw', () => {
  const { provider, ended } = ownProvider()
  const span = provider.getTracer('host').startSpan('hostile')
  const cyclic: Record<string, unknown> = { plain: 1 }
  cyclic.self = cyclic
  const trap = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no')
      },
    },
  )
  span.setAttribute('cyclic', cyclic).setAttribute('trap', trap)
  span.setAttributes(undefined as never)
  span.recordException(null as never)
  span.end(Number.NaN)
  expect(Object.keys(ended[0]!.attributes)).toEqual(['cyclic'])
  expect(ended[0]!.events).toHaveLength(1)
})

test("OpenTelemetry's environment variables describe the process; invalid entries are ignored", () => {
  const { provider, ended } = ownProvider({
    OTEL_RESOURCE_ATTRIBUTES: 'playhead.demo=true, team = "a%20b" ,broken,=x,bad=%E0%A4%A',
    OTEL_SERVICE_NAME: 'shop',
  })
  provider.getTracer('host').startSpan('x').end()
  expect(ended[0]!.resource.attributes).toMatchObject({
    'playhead.demo': 'true',
    team: 'a b',
    'service.name': 'shop',
    'telemetry.sdk.name': 'playhead',
  })
  expect(Object.keys(ended[0]!.resource.attributes)).not.toContain('bad')
})
