import { SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { describeEndState, parseEndState } from '@playhead/model'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type SessionFrame, frameOf, settleContext, withFrame } from './session-frame.ts'
import { isErrorRecorded, leaveFrame, setError, createFrame, isInSession, rootOptions } from '../step/step.ts'
import { isInsideFlow, type StackFrame } from './call-stack.ts'
import { sessionAttributes, type SessionOptions } from './session-attributes.ts'

/** How a session ended. `error` is what was thrown, where something was. */
export type SessionEnd = { endState: string; reason?: string | undefined; error?: unknown }

/** Ends a session, or the part of one that a frame is. Ending it again changes nothing. */
export function closeSession(runtime: Runtime, frame: SessionFrame, end: SessionEnd): void {
  if (frame.isEnded) return
  writeEnd(runtime, frame, end)
  frame.span.end()
  leaveFrame(runtime, frame)
  runtime.delivery.sendSoon()
}

/** The end of a part says nothing of the session's end: that is for whoever started it to say. */
function writeEnd(
  runtime: Runtime,
  { span, isPart }: SessionFrame,
  { endState, reason, error }: SessionEnd,
): void {
  const state = parseEndState(endState)
  if (!isPart) {
    span.setAttribute('playhead.session.end_state', describeEndState(state))
    if (reason !== undefined) span.setAttribute('playhead.session.end_state_reason', reason)
  }
  if (state !== 'fail') return
  if (error !== undefined) setError(runtime, span, error)
  else span.setStatus({ code: SpanStatusCode.ERROR, ...(reason !== undefined && { message: reason }) })
}

/** Ends everything that is open because the process does. Steps that were running are left as such: that is what they were. */
export function closeAllSessions(
  runtime: Runtime,
  { reason, error }: { reason: string; error?: unknown },
): void {
  const current = error === undefined ? undefined : sessionOfError(runtime, error)
  runtime.runningSteps.announce(0)
  // From the inside out, so that parts are over before what they are part of.
  const frames = [...runtime.openFrames].toSorted((left, right) => right.order - left.order)
  for (const frame of frames) {
    const isFailed = error !== undefined && frame.record === current?.record
    const end: SessionEnd = isFailed
      ? { endState: 'Fail', reason: messageOf(error), error }
      : { endState: 'Indeterminate', reason }
    if (frame.reach !== 'step') closeSession(runtime, frame, end)
    else {
      writeEnd(runtime, frame, end)
      leaveFrame(runtime, frame)
      runtime.delivery.announce(frame.span as unknown as RecordedSpan, frame.record)
    }
  }
}

/** The session that an uncaught error comes from: one whose steps recorded it, else the one that was running when it came. */
function sessionOfError(runtime: Runtime, error: unknown): SessionFrame | undefined {
  for (const frame of runtime.openFrames) if (isErrorRecorded(frame.record.id, error)) return frame
  return runtime.currentFrame()
}

export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  } catch {
    return 'an error that can not be read'
  }
}

export type OpenSession = { frame: SessionFrame; context: Context }

/** Begins a session; inside another it becomes a part of that one. */
export function openSession(
  runtime: Runtime,
  options: SessionOptions,
  { reach, captureStack }: { reach: SessionFrame['reach']; captureStack: () => StackFrame[] },
): OpenSession {
  // Looking at the stack takes longer than all the rest, and mostly nobody asks.
  let captured: StackFrame[] | undefined
  const stackHere = () => (captured ??= captureStack())
  const context = runtime.place(leaveStrangers(settleContext(runtime.scope.active()), stackHere))
  const stack = reach === 'flow' ? stackHere() : []
  const isPart = isInSession(runtime, context)
  const tags = isPart ? [] : runtime.settings.tags
  const attributes = sessionAttributes(options, tags, runtime.serializeOptions)
  const name = options.name ?? 'session'
  const span = isPart
    ? runtime.tracer().startSpan(name, { attributes }, context)
    : runtime.startSessionSpan(name, { attributes, ...rootOptions(context) }, context)
  const frame = createFrame(runtime, { span, context, isPart, reach, stack })
  if (reach === 'flow')
    queueMicrotask(() => {
      frame.isFresh = false
    })
  return { frame, context: withFrame(context, frame) }
}

/**
 * `startSession` in an `async` function changes the context of the function's caller too. Whoever is called next by that
 * caller finds itself in a session that is none of its business, as in `Promise.all(inputs.map(runAgent))`.
 */
function leaveStrangers(context: Context, stackHere: () => StackFrame[]): Context {
  let left = context
  for (;;) {
    const frame = frameOf(left)
    const mayBeStranger = frame?.reach === 'flow' && trace.getSpan(left) === frame.span
    if (frame === undefined || !mayBeStranger || isInsideFlow(stackHere(), frame.stack, frame.isFresh))
      return left
    left = settleContext(frame.outerContext)
  }
}
