import { createContextKey, propagation, trace, type Context, type Span } from '@opentelemetry/api'
import type { StackFrame } from './call-stack.ts'
import type { SessionRecord } from './session-record.ts'

/** A session as the code that runs in it sees it: which one it is, and what is around it. */
export type SessionFrame = {
  readonly record: SessionRecord
  /** The step that stands for it. */
  readonly span: Span
  /** Where steps belong once it has ended. */
  readonly outerContext: Context
  readonly outer: SessionFrame | undefined
  /** True for a part of a session that was started elsewhere: further out, or in another process. */
  readonly isPart: boolean
  /** `flow`: by `startSession`, for the rest of the flow. `scope`: for one callback. `step`: by an outermost step, for itself. */
  readonly reach: 'flow' | 'scope' | 'step'
  /** What was on the stack when a `flow` began. */
  readonly stack: readonly StackFrame[]
  /** True until the code that began it has returned to the event loop. */
  isFresh: boolean
  isEnded: boolean
  /** Counts up with every frame. */
  readonly order: number
  /** Its place among the open frames. */
  listIndex: number
}

const FRAME = createContextKey('playhead session')
/** Marks contexts, and over W3C baggage requests, whose trace is a session. */
const BAGGAGE_KEY = 'playhead.session'

export function frameOf(context: Context): SessionFrame | undefined {
  return context.getValue(FRAME) as SessionFrame | undefined
}

export function withFrame(context: Context, frame: SessionFrame): Context {
  const baggage = propagation.getBaggage(context) ?? propagation.createBaggage()
  const marked = propagation.setBaggage(context, baggage.setEntry(BAGGAGE_KEY, { value: frame.record.id }))
  return trace.setSpan(marked.setValue(FRAME, frame), frame.span)
}

/** The session that is open around this context: the innermost that has not ended. */
export function openFrameOf(context: Context): SessionFrame | undefined {
  let frame = frameOf(context)
  while (frame?.isEnded === true) frame = frame.outer
  return frame
}

/** The context that a new step belongs to: an ended session takes no more steps, except inside steps that outlive it. */
export function settleContext(context: Context): Context {
  let settled = context
  for (;;) {
    const frame = frameOf(settled)
    if (frame === undefined || !frame.isEnded || trace.getSpan(settled) !== frame.span) return settled
    settled = frame.outerContext
  }
}

/** The session, started in another process, that a request or the environment brought here. */
export function sessionFromElsewhere(context: Context): string | undefined {
  const spanContext = trace.getSpanContext(context)
  const sessionId = propagation.getBaggage(context)?.getEntry(BAGGAGE_KEY)?.value
  return spanContext !== undefined && sessionId === spanContext.traceId ? sessionId : undefined
}
