import {
  propagation,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Baggage,
  type Context,
  type SpanContext,
} from '@opentelemetry/api'
import { frameOf, sessionFromElsewhere } from './session-frame.ts'

/** The W3C headers that make the steps of another process part of this session. */
export type SessionHeaders = { traceparent: string; baggage: string }

const traceParent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const MARK = 'playhead.session'

/** The headers of whatever is going on in this context; undefined when that is no session. */
export function headersOfContext(context: Context): SessionHeaders | undefined {
  const frame = frameOf(context)
  const isSession = frame === undefined ? sessionFromElsewhere(context) !== undefined : !frame.isEnded
  const spanContext = isSession ? trace.getSpanContext(context) : undefined
  if (spanContext === undefined) return undefined
  const { traceId, spanId, traceFlags } = spanContext
  const flags = (traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, baggage: `${MARK}=${traceId}` }
}

/** The context that headers, or the environment of the process, describe. It is a session only when the sender said so. */
export function contextFromHeaders(headers: {
  traceparent: string | undefined
  baggage: string | undefined
}): { context: Context; isSession: boolean } {
  const [, traceId, spanId] = traceParent.exec(headers.traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || markOf(headers.baggage) !== traceId)
    return { context: ROOT_CONTEXT, isSession: false }
  const parent: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  const baggage: Baggage = propagation.createBaggage({ [MARK]: { value: traceId } })
  const context = propagation.setBaggage(trace.setSpanContext(ROOT_CONTEXT, parent), baggage)
  return { context, isSession: true }
}

function markOf(baggage: string | undefined): string | undefined {
  for (const entry of baggage?.split(',') ?? []) {
    const [name, value] = entry.split(';', 1)[0]!.split('=')
    if (name?.trim() === MARK) return value?.trim()
  }
  return undefined
}
