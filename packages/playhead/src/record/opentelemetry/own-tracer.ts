import {
  context as contextApi,
  INVALID_SPAN_CONTEXT,
  SpanKind,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { readField, readFields, toName } from '../value/host-value.ts'
import { OwnSpan } from './own-span.ts'
import type { InstrumentationScope, RecordedSpan } from './recorded-span.ts'
import { isTracingSuppressed } from './context-scope.ts'
import { resourceAttributes, type ResourceSettings } from './resource-attributes.ts'

/** Told about every span that starts or ends. */
export type SpanObserver = {
  onStart(span: Span, parentContext: Context): void
  onEnd(span: RecordedSpan): void
}

/** Creates a tracer provider for a program that has none. */
export function createProvider(observer: SpanObserver, settings: ResourceSettings): TracerProvider {
  const resource = { attributes: resourceAttributes(settings, process.env) }
  const tracers = new Map<string, Tracer>()
  return {
    getTracer(givenName, givenVersion) {
      const name = toName(givenName) ?? ''
      const version = toName(givenVersion)
      const key = `${name}@${version ?? ''}`
      let tracer = tracers.get(key)
      if (tracer === undefined) {
        const scope: InstrumentationScope = { name, version }
        tracers.set(key, (tracer = new OwnTracer(observer, resource, scope)))
      }
      return tracer
    },
  }
}

type Callback = (span: Span) => unknown

class OwnTracer implements Tracer {
  readonly #observer: SpanObserver
  readonly #resource: RecordedSpan['resource']
  readonly #scope: InstrumentationScope
  readonly #onEnd: (span: RecordedSpan) => void

  constructor(observer: SpanObserver, resource: RecordedSpan['resource'], scope: InstrumentationScope) {
    this.#observer = observer
    this.#resource = resource
    this.#scope = scope
    this.#onEnd = (span) => observer.onEnd(span)
  }

  startSpan(name: string, options: SpanOptions = {}, context: Context = contextApi.active()): Span {
    try {
      return this.#start(name, options, context)
    } catch {
      // Instrumentation passed something else than options or a context.
      const safe = readFields(options, ['kind', 'startTime', 'attributes', 'links', 'root']) as SpanOptions
      const isContext = typeof readField(context, 'getValue') === 'function'
      return this.#start(name, safe, isContext ? context : contextApi.active())
    }
  }

  #start(name: string, options: SpanOptions, context: Context): Span {
    if (isTracingSuppressed(context)) return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    const parent = options.root === true ? undefined : validParent(context)
    const span = new OwnSpan({
      context: {
        traceId: parent === undefined ? newTraceId() : parent.traceId,
        spanId: newSpanId(),
        traceFlags: TraceFlags.SAMPLED,
        ...(parent?.traceState !== undefined && { traceState: parent.traceState }),
      },
      name,
      kind: typeof options.kind === 'number' ? options.kind : SpanKind.INTERNAL,
      parentSpanContext: parent,
      startTime: options.startTime,
      attributes: options.attributes,
      links: options.links,
      resource: this.#resource,
      scope: this.#scope,
      onEnd: this.#onEnd,
    })
    this.#observer.onStart(span, options.root === true ? trace.deleteSpan(context) : context)
    return span
  }

  startActiveSpan<Fn extends Callback>(name: string, fn: Fn): ReturnType<Fn>
  startActiveSpan<Fn extends Callback>(name: string, options: SpanOptions, fn: Fn): ReturnType<Fn>
  startActiveSpan<Fn extends Callback>(
    name: string,
    options: SpanOptions,
    context: Context,
    fn: Fn,
  ): ReturnType<Fn>
  startActiveSpan(name: string, ...rest: unknown[]): unknown {
    const fn = rest.at(-1) as Callback
    if (typeof fn !== 'function') return undefined
    const options = rest.length > 1 ? (rest[0] as SpanOptions) : {}
    const context = rest.length > 2 ? (rest[1] as Context) : contextApi.active()
    const span = this.startSpan(name, options, context)
    return contextApi.with(trace.setSpan(context, span), fn, undefined, span)
  }
}

function validParent(context: Context): SpanContext | undefined {
  const around = trace.getSpan(context)
  if (around instanceof OwnSpan) return around.spanContext()
  const parent = around?.spanContext()
  return parent !== undefined && trace.isSpanContextValid(parent) ? parent : undefined
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const BYTES = 4

/** 32 hex digits, never all zero. */
function newTraceId(): string {
  return newSpanId() + newSpanId()
}

/** 16 hex digits, never all zero. */
function newSpanId(): string {
  const id = fourBytes() + fourBytes()
  return id === '0000000000000000' ? newSpanId() : id
}

function fourBytes(): string {
  const random = (Math.random() * 2 ** (8 * BYTES)) >>> 0
  return HEX[random >>> 24]! + HEX[(random >>> 16) & 255]! + HEX[(random >>> 8) & 255]! + HEX[random & 255]!
}
