import { SpanStatusCode } from '@opentelemetry/api'
import { describeEndState, parseEndState } from '@playhead/model'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SessionFrame } from './session-frame.ts'
import { isErrorRecorded, leaveFrame, setError } from '../step/step.ts'

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
