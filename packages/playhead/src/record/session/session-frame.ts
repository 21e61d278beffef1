import {
  createContextKey,
  propagation,
  trace,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api'
import { withValue } from '../opentelemetry/light-context.ts'
import type { StackFrame } from './call-stack.ts'
import type { Recorder } from './recorder.ts'
import { recordOf, SessionRecord } from './session-record.ts'

/** An open session, or part of one, as the code that runs inside sees it through its context. */
export type SessionFrame = {
  readonly record: SessionRecord
  /** The span around everything in it. */
  readonly span: Span
  /** The context that steps belong to once it has ended. */
  readonly outerContext: Context
  readonly outer: SessionFrame | undefined
  /** True if the session was started further out, or in another process. */
  readonly isPart: boolean
  /** `flow`: `startSession`, until `endSession`. `scope`: `withSession`, one callback. `step`: a step outside of any session. */
  readonly reach: 'flow' | 'scope' | 'step'
  /** The call stack when a `flow` was started. */
  readonly stack: readonly StackFrame[]
  /** True until the code that started it has returned to the event loop. */
  isFresh: boolean
  isEnded: boolean
  /** Increases with every frame. */
  readonly order: number
  /** Its position in the list of open frames. */
  listIndex: number
}

const FRAME = createContextKey('playhead session')
/** Marks contexts whose trace is a session, and requests to other processes as well: it travels as W3C baggage. */
export const BAGGAGE_KEY = 'playhead.session'

export function frameOf(context: Context): SessionFrame | undefined {
  return context.getValue(FRAME) as SessionFrame | undefined
}

export function withFrame(context: Context, frame: SessionFrame): Context {
  const baggage = propagation.getBaggage(context) ?? propagation.createBaggage()
  const framed = withValue(context, FRAME, frame)
  const marked = propagation.setBaggage(framed, baggage.setEntry(BAGGAGE_KEY, { value: frame.record.id }))
  return trace.setSpan(marked, frame.span)
}

/** The innermost session around this context that has not ended. */
export function openFrameOf(context: Context): SessionFrame | undefined {
  let frame = frameOf(context)
  while (frame?.isEnded === true) frame = frame.outer
  return frame
}

/** The nearest context that accepts steps: an ended session accepts none, except inside steps that outlive it. */
export function skipEndedSessions(context: Context): Context {
  let current = context
  for (;;) {
    const frame = frameOf(current)
    if (frame === undefined || !frame.isEnded || trace.getSpan(current) !== frame.span) return current
    current = frame.outerContext
  }
}

/** The id of a session that another process started and a request or the environment brought here. */
export function remoteSessionId(context: Context): string | undefined {
  const spanContext = trace.getSpanContext(context)
  const sessionId = propagation.getBaggage(context)?.getEntry(BAGGAGE_KEY)?.value
  return spanContext !== undefined && sessionId === spanContext.traceId ? sessionId : undefined
}

/** True if a step in this context joins an existing session. */
export function isInSession(recorder: Recorder, context: Context): boolean {
  if (frameOf(context) !== undefined) return true
  const spanContext = trace.getSpanContext(context)
  if (spanContext === undefined) return false
  return (
    recorder.store.findByTrace(spanContext.traceId) !== undefined || remoteSessionId(context) !== undefined
  )
}

/** A session is a trace of its own, linked to the trace that the host was recording around it. */
export function rootSpanOptions(context: Context): Pick<SpanOptions, 'root' | 'links'> {
  const around = trace.getSpanContext(context)
  const isTraced = around !== undefined && trace.isSpanContextValid(around)
  return isTraced ? { root: true, links: [{ context: around }] } : { root: true }
}

let frameCount = 0

type FrameParts = Pick<SessionFrame, 'span' | 'isPart' | 'reach' | 'stack'> & { context: Context }

export function openFrame(
  recorder: Recorder,
  { span, context, isPart, reach, stack }: FrameParts,
): SessionFrame {
  const frame: SessionFrame = {
    // A host's sampler may have dropped the span.
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
  recorder.openFrames.add(frame)
  return frame
}

export function closeFrame(recorder: Recorder, frame: SessionFrame): void {
  frame.isEnded = true
  recorder.openFrames.remove(frame)
}
