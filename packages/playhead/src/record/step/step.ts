import { SpanStatusCode, trace, type Attributes, type Context, type Span } from '@opentelemetry/api'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import { describeError, type DescribedError } from '../value/describe-error.ts'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  frameOf,
  sessionFromElsewhere,
  settleContext,
  withFrame,
  type SessionFrame,
} from '../session/session-frame.ts'
import { SessionRecord } from '../session/session-record.ts'
import { recordOf } from '../session/span-recorder.ts'

/** A step under way. */
export type OpenStep = {
  span: Span
  /** What runs in it belongs to it. */
  context: Context
  /** The session that began with this step, when it was not in one. */
  frame: SessionFrame | undefined
}

export type StepStart = { name: string; attributes: Attributes; startTime?: number | undefined }

/** Begins a step where the code runs that asks for it. Outside of any session it is one by itself. */
export function startStep(runtime: Runtime, { name, attributes, startTime }: StepStart): OpenStep {
  const context = runtime.place(settleContext(runtime.scope.active()))
  const options = startTime === undefined ? { attributes } : { attributes, startTime }
  if (isInSession(runtime, context)) {
    const span = runtime.tracer().startSpan(name, options, context)
    return { span, context: trace.setSpan(context, span), frame: undefined }
  }
  const tags = runtime.settings.tags.length > 0 ? { 'playhead.session.tags': [...runtime.settings.tags] } : {}
  const rooted = { ...options, attributes: { ...attributes, ...tags }, ...rootOptions(context) }
  const span = runtime.startSessionSpan(name, rooted, context)
  const frame = createFrame(runtime, { span, context, isPart: false, reach: 'step', stack: [] })
  return { span, context: withFrame(context, frame), frame }
}

/** True when a step in this context belongs to a session that is already there. */
export function isInSession(runtime: Runtime, context: Context): boolean {
  if (frameOf(context) !== undefined) return true
  const spanContext = trace.getSpanContext(context)
  if (spanContext === undefined) return false
  return (
    runtime.store.findByTrace(spanContext.traceId) !== undefined ||
    sessionFromElsewhere(context) !== undefined
  )
}

/** A session is a trace of its own; what the program was tracing around it is linked. */
export function rootOptions(context: Context): {
  root: true
  links?: { context: ReturnType<Span['spanContext']> }[]
} {
  const around = trace.getSpanContext(context)
  const isTraced = around !== undefined && trace.isSpanContextValid(around)
  return isTraced ? { root: true, links: [{ context: around }] } : { root: true }
}

let frameCount = 0

type FrameParts = Pick<SessionFrame, 'span' | 'isPart' | 'reach' | 'stack'> & { context: Context }

export function createFrame(
  runtime: Runtime,
  { span, context, isPart, reach, stack }: FrameParts,
): SessionFrame {
  const frame: SessionFrame = {
    // A host's sampler may have decided that nothing of it is recorded.
    record: recordOf(span) ?? new SessionRecord(span.spanContext().traceId),
    span,
    outerContext: context,
    outer: frameOf(context),
    isPart,
    reach,
    stack,
    isFresh: true,
    isEnded: false,
    order: (frameCount += 1),
    listIndex: -1,
  }
  runtime.openFrames.add(frame)
  return frame
}

/** When a step began; 0 when it is not recorded. */
export function startMsOf({ span }: OpenStep): number {
  const [seconds, nanoseconds] = (span as unknown as Partial<RecordedSpan>).startTime ?? [0, 0]
  return seconds * 1000 + nanoseconds / 1e6
}

/** Ends a step that returned. */
export function endStep(runtime: Runtime, { span, frame }: OpenStep, endTime = preciseNowMs()): void {
  span.end(endTime)
  if (frame !== undefined) leaveFrame(runtime, frame)
}

/** Ends a step that threw. */
export function failStep(runtime: Runtime, step: OpenStep, error: unknown, endTime?: number): void {
  setError(runtime, step.span, error)
  endStep(runtime, step, endTime)
}

export function leaveFrame(runtime: Runtime, frame: SessionFrame): void {
  frame.isEnded = true
  runtime.openFrames.remove(frame)
}

/** Which steps recorded an error object: the one that threw it first, the steps around that one after it. */
const seenErrors = new WeakMap<object, { sessionId: string; ancestors: ReadonlySet<string> }>()

/** Writes an error on a step. An error object that a step inside it already recorded is marked as passed on. */
export function setError(runtime: Runtime, span: Span, error: unknown): void {
  const described = describeError(error, runtime.serializeOptions)
  if (typeof error === 'object' && error !== null) noteOwner(span, error, described)
  span.setStatus({ code: SpanStatusCode.ERROR, message: described.message })
  span.setAttribute('error.type', described.type)
  span.setAttribute('playhead.step.error', JSON.stringify(described))
}

function noteOwner(span: Span, error: object, described: DescribedError): void {
  const { traceId, spanId } = span.spanContext()
  const seen = seenErrors.get(error)
  if (seen?.sessionId === traceId && seen.ancestors.has(spanId)) {
    described.isPropagated = true
    delete described.stack
    return
  }
  const ancestors = recordOf(span)?.ancestorsOf(span as unknown as RecordedSpan) ?? new Set<string>()
  seenErrors.set(error, { sessionId: traceId, ancestors })
}

/** True when a step of this session has recorded the error object. */
export function isErrorRecorded(sessionId: string, error: unknown): boolean {
  return typeof error === 'object' && error !== null && seenErrors.get(error)?.sessionId === sessionId
}
