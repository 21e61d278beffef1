import { SpanStatusCode, type Span } from '@opentelemetry/api'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { describeError, type DescribedError } from '../value/describe-error.ts'
import type { Recorder } from './recorder.ts'
import { recordOf } from './session-record.ts'

/** For each error object, the session that recorded it first, and the steps around the one that threw it. */
const recordedErrors = new WeakMap<object, { sessionId: string; ancestors: ReadonlySet<string> }>()

/** Writes an error to a span. If a step inside it already recorded the error object, it is marked as propagated. */
export function recordError(recorder: Recorder, span: Span, error: unknown): void {
  const described = describeError(error, recorder.serializeOptions)
  if (typeof error === 'object' && error !== null) markIfPropagated(span, error, described)
  span.setStatus({ code: SpanStatusCode.ERROR, message: described.message })
  span.setAttribute('error.type', described.type)
  span.setAttribute('playhead.step.error', JSON.stringify(described))
}

function markIfPropagated(span: Span, error: object, described: DescribedError): void {
  const { traceId, spanId } = span.spanContext()
  const known = recordedErrors.get(error)
  if (known?.sessionId === traceId && known.ancestors.has(spanId)) {
    described.isPropagated = true
    delete described.stack
    return
  }
  const ancestors = recordOf(span)?.ancestorsOf(span as unknown as RecordedSpan) ?? new Set<string>()
  recordedErrors.set(error, { sessionId: traceId, ancestors })
}

/** True if a step of this session has recorded the error object. */
export function isErrorRecorded(sessionId: string, error: unknown): boolean {
  return typeof error === 'object' && error !== null && recordedErrors.get(error)?.sessionId === sessionId
}
