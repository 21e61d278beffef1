import {
  propagation,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Baggage,
  type Context,
  type SpanContext,
} from '@opentelemetry/api'
import { BAGGAGE_KEY, frameOf, remoteSessionId } from './session-frame.ts'

/** The W3C headers that make the steps of another process part of this session. */
export type SessionHeaders = { traceparent: string; baggage: string }

const traceParent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** The headers of the session in this context; undefined outside of any session. */
export function headersOfContext(context: Context): SessionHeaders | undefined {
  const frame = frameOf(context)
  const isSession = frame === undefined ? remoteSessionId(context) !== undefined : !frame.isEnded
  const spanContext = isSession ? trace.getSpanContext(context) : undefined
  if (spanContext === undefined) return undefined
  const { traceId, spanId, traceFlags } = spanContext
  const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, baggage: `${BAGGAGE_KEY}=${traceId}` }
}

/** The context that headers, or the environment, describe. It is a session only if the sender marked it as one. */
export function contextFromHeaders(headers: {
  traceparent: string | undefined
  baggage: string | undefined
}): { context: Context; isSession: boolean } {
  const [, traceId, spanId] = traceParent.exec(headers.traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || sessionIdIn(headers.baggage) !== traceId)
    return { context: ROOT_CONTEXT, isSession: false }
  const parent: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  const baggage: Baggage = propagation.createBaggage({ [BAGGAGE_KEY]: { value: traceId } })
  const context = propagation.setBaggage(trace.setSpanContext(ROOT_CONTEXT, parent), baggage)
  return { context, isSession: true }
}

function sessionIdIn(baggage: string | undefined): string | undefined {
  for (const entry of baggage?.split(',') ?? []) {
    const [name, value] = entry.split(';', 1)[0]!.split('=')
    if (name?.trim() === BAGGAGE_KEY) return value?.trim()
  }
  return undefined
}
