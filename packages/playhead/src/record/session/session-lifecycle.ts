import { SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { describeEndState, parseEndState } from '@playhead/model'
import { summarizeError } from '../value/describe-error.ts'
import { isInsideFlow, type StackFrame } from './call-stack.ts'
import { isErrorRecorded, recordError } from './record-error.ts'
import type { Recorder } from './recorder.ts'
import { describeSession, type SessionOptions } from './session-attributes.ts'
import {
  closeFrame,
  frameOf,
  isInSession,
  openFrame,
  rootSpanOptions,
  skipEndedSessions,
  withFrame,
  type SessionFrame,
} from './session-frame.ts'

export type OpenSession = { frame: SessionFrame; context: Context }

/** Opens a session. Inside another session it becomes a part of that one. */
export function openSession(
  recorder: Recorder,
  options: SessionOptions,
  { reach, captureStack }: { reach: SessionFrame['reach']; captureStack: () => StackFrame[] },
): OpenSession {
  // Capturing the stack costs more than everything else here, and is rarely needed.
  let captured: StackFrame[] | undefined
  const stackHere = () => (captured ??= captureStack())
  const active = skipEndedSessions(recorder.scope.active())
  const context = recorder.parentContext(leaveForeignSessions(active, stackHere))
  const stack = reach === 'flow' ? stackHere() : []
  const isPart = isInSession(recorder, context)
  const { name, attributes } = describeSession(
    options,
    isPart ? [] : recorder.tags,
    recorder.serializeOptions,
  )
  const span = isPart
    ? recorder.tracer().startSpan(name, { attributes }, context)
    : recorder.startSessionSpan(name, { attributes, ...rootSpanOptions(context) }, context)
  const frame = openFrame(recorder, { span, context, isPart, reach, stack })
  if (reach === 'flow')
    queueMicrotask(() => {
      frame.isFresh = false
    })
  return { frame, context: withFrame(context, frame) }
}

/**
 * `startSession` in an `async` function also changes the context of its caller. The next function that this caller runs,
 * as in `Promise.all(inputs.map(runAgent))`, must not join the first one's session.
 */
function leaveForeignSessions(context: Context, stackHere: () => StackFrame[]): Context {
  let current = context
  for (;;) {
    const frame = frameOf(current)
    const mayBeForeign = frame?.reach === 'flow' && trace.getSpan(current) === frame.span
    if (frame === undefined || !mayBeForeign || isInsideFlow(stackHere(), frame.stack, frame.isFresh))
      return current
    current = skipEndedSessions(frame.outerContext)
  }
}

/** How a session ended. `error` is what was thrown, if anything. */
export type SessionEnd = { endState: string; reason?: string | undefined; error?: unknown }

/** Ends a session, or a part of one. Ending it again changes nothing. */
export function closeSession(recorder: Recorder, frame: SessionFrame, end: SessionEnd): void {
  if (frame.isEnded) return
  recorder.guard(() => writeEnd(recorder, frame, end))
  frame.span.end()
  closeFrame(recorder, frame)
  recorder.onSessionEnd()
}

/** The end of a part does not decide the end state of the session: whoever started it does. */
function writeEnd(
  recorder: Recorder,
  { span, isPart }: SessionFrame,
  { endState, reason, error }: SessionEnd,
): void {
  const state = parseEndState(endState)
  if (!isPart) {
    span.setAttribute('playhead.session.end_state', describeEndState(state))
    if (reason !== undefined) span.setAttribute('playhead.session.end_state_reason', reason)
  }
  if (state !== 'fail') return
  if (error !== undefined) recordError(recorder, span, error)
  else span.setStatus({ code: SpanStatusCode.ERROR, ...(reason !== undefined && { message: reason }) })
}

/** Ends all open sessions because the process ends. Returns the sessions that are a single step, which stays running. */
export function closeAllSessions(
  recorder: Recorder,
  { reason, error }: { reason: string; error?: unknown },
): SessionFrame[] {
  const failed = error === undefined ? undefined : sessionOfError(recorder, error)?.record
  // Inner ones first, so that parts end before the session around them.
  const frames = [...recorder.openFrames].toSorted((left, right) => right.order - left.order)
  for (const frame of frames) {
    const isFailed = failed !== undefined && frame.record === failed
    const end: SessionEnd = isFailed
      ? { endState: 'Fail', reason: summarizeError(error), error }
      : { endState: 'Indeterminate', reason }
    if (frame.reach !== 'step') closeSession(recorder, frame, end)
    else {
      writeEnd(recorder, frame, end)
      closeFrame(recorder, frame)
    }
  }
  return frames.filter(({ reach }) => reach === 'step')
}

/** The session whose steps recorded an uncaught error, otherwise the current one. */
function sessionOfError(recorder: Recorder, error: unknown): SessionFrame | undefined {
  for (const frame of recorder.openFrames) if (isErrorRecorded(frame.record.id, error)) return frame
  return recorder.currentFrame()
}
