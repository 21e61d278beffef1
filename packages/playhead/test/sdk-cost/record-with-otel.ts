import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Recording } from './recording.ts'

/** Records the same spans and attributes with OpenTelemetry's tracer, batch processor and OTLP/HTTP exporter. */
export function recordWithOtel(endpoint: string): Recording {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'sdk-cost' }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, maxQueueSize: 1_000_000, scheduledDelayMillis: 300 }),
    ],
  })
  trace.setGlobalTracerProvider(provider)
  const tracer = provider.getTracer('sdk-cost')
  const run = (name: string, input: unknown, fn: () => unknown) =>
    tracer.startActiveSpan(
      name,
      {
        attributes: {
          'playhead.step.kind': 'action',
          ...(input !== undefined && { 'playhead.action.arguments': JSON.stringify(input) }),
        },
      },
      (span) => {
        const end = (result: unknown) => {
          if (result !== undefined) span.setAttribute('playhead.action.result', JSON.stringify(result))
          span.end()
          return result
        }
        const fail = (error: unknown) => {
          span.recordException(error as Error)
          span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
          throw error
        }
        try {
          const result = fn()
          return result instanceof Promise ? result.then(end, fail) : end(result)
        } catch (error) {
          return fail(error)
        }
      },
    )
  return {
    wrap: (name, fn) => ((...args: never[]) => run(name, args, () => fn(...args))) as typeof fn,
    withSession: (name, fn) => run(name, undefined, fn) as Promise<void>,
    finish: () => provider.forceFlush(),
  }
}
