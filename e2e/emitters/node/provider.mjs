import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { playhead } from './weather.mjs'

/** The global tracer provider, which sends to Playhead. */
export const provider = new BasicTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${playhead}/v1/traces` }))],
})
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(provider)

/** The agent in a span of the application, which joins its calls. */
export function withinRoot(ask) {
  return (question, stream) =>
    trace.getTracer('weather').startActiveSpan('weather', async (span) => {
      try {
        return await ask(question, stream)
      } catch (error) {
        span.recordException(error)
        span.setStatus({ code: 2, message: error.message })
        throw error
      } finally {
        span.end()
      }
    })
}
