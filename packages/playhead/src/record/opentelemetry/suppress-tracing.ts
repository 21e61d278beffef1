import { createContextKey, type Context } from '@opentelemetry/api'

/** OpenTelemetry's own key: instrumentation looks at it before it traces. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

export function suppressTracing(context: Context): Context {
  return context.setValue(SUPPRESS_TRACING, true)
}

export function isTracingSuppressed(context: Context): boolean {
  return context.getValue(SUPPRESS_TRACING) === true
}
