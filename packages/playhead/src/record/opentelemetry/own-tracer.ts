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
} from '@opentelemetry/api'
import { OwnSpan } from './own-span.ts'
import { newSpanId, newTraceId } from './new-id.ts'
import type { InstrumentationScope, RecordedSpan } from './recorded-span.ts'
import type { SpanRecorder } from '../session/span-recorder.ts'
import { isTracingSuppressed } from './suppress-tracing.ts'

type Callback = (span: Span) => unknown

/** Makes spans that are recorded, whoever asks for them. */
export class OwnTracer implements Tracer {
  readonly #recorder: SpanRecorder
  readonly #resource: RecordedSpan['resource']
  readonly #scope: InstrumentationScope
  readonly #onEnd: (span: RecordedSpan) => void

  constructor(recorder: SpanRecorder, resource: RecordedSpan['resource'], scope: InstrumentationScope) {
    this.#recorder = recorder
    this.#resource = resource
    this.#scope = scope
    this.#onEnd = (span) => recorder.onEnd(span)
  }

  startSpan(name: string, options: SpanOptions = {}, context: Context = contextApi.active()): Span {
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
      kind: options.kind ?? SpanKind.INTERNAL,
      parentSpanContext: parent,
      startTime: options.startTime,
      attributes: options.attributes,
      links: options.links,
      resource: this.#resource,
      scope: this.#scope,
      onEnd: this.#onEnd,
    })
    this.#recorder.onStart(span, options.root === true ? trace.deleteSpan(context) : context)
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
