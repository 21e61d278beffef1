import { trace, type Attributes, type Context, type Span } from '@opentelemetry/api'
import { hrTimeToMs, preciseNowMs } from '../opentelemetry/clock.ts'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { recordError } from '../session/record-error.ts'
import type { Recorder } from '../session/recorder.ts'
import type { TypedValue } from '../value/serialize-value.ts'
import {
  closeFrame,
  isInSession,
  openFrame,
  rootSpanOptions,
  skipEndedSessions,
  withFrame,
  type SessionFrame,
} from '../session/session-frame.ts'

/** A running step. */
export type OpenStep = {
  span: Span
  /** Code that runs in this context belongs to the step. */
  context: Context
  /** The session that the step started, if it was not in one. */
  frame: SessionFrame | undefined
}

export type StepStart = { name: string; attributes: Attributes; startTime?: number | undefined }

/** Starts a step in the current context. Outside of any session it starts a session of its own. */
export function startStep(recorder: Recorder, { name, attributes, startTime }: StepStart): OpenStep {
  const context = recorder.stepContext(skipEndedSessions(recorder.scope.active()))
  const options = startTime === undefined ? { attributes } : { attributes, startTime }
  if (isInSession(recorder, context)) {
    const span = recorder.tracer().startSpan(name, options, context)
    return { span, context: trace.setSpan(context, span), frame: undefined }
  }
  const tags = recorder.tags.length > 0 ? { 'playhead.session.tags': [...recorder.tags] } : {}
  const rootOptions = { ...options, attributes: { ...attributes, ...tags }, ...rootSpanOptions(context) }
  const span = recorder.startSessionSpan(name, rootOptions, context)
  const frame = openFrame(recorder, { span, context, isPart: false, reach: 'step', stack: [] })
  return { span, context: withFrame(context, frame), frame }
}

/** When a step started, in milliseconds since 1970; 0 if it is not recorded. */
export function startMsOf({ span }: OpenStep): number {
  return hrTimeToMs((span as unknown as Partial<RecordedSpan>).startTime ?? [0, 0])
}

/** Ends a step that returned. */
export function endStep(recorder: Recorder, { span, frame }: OpenStep, endTime = preciseNowMs()): void {
  span.end(endTime)
  if (frame !== undefined) closeFrame(recorder, frame)
}

/** Ends a step that threw. */
export function failStep(recorder: Recorder, step: OpenStep, error: unknown, endTime?: number): void {
  recorder.guard(() => recordError(recorder, step.span, error))
  endStep(recorder, step, endTime)
}

/**
 * Writes a value of the host to a span: numbers and booleans as they are, anything else as JSON. With `typesKey`, what
 * JSON loses of it is written there. Returns true if the value was truncated.
 */
export function setValue(
  recorder: Recorder,
  span: Span,
  key: string,
  value: unknown,
  typesKey?: string,
): boolean {
  if (value === undefined) return false
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    span.setAttribute(key, value)
    if (typesKey !== undefined && Object.is(value, -0)) span.setAttribute(typesKey, '{"":"-0"}')
    return false
  }
  const { text, isTruncated, types }: TypedValue =
    typesKey === undefined ? recorder.serialize(value) : recorder.serializeTyped(value)
  span.setAttribute(key, text)
  if (types !== undefined) span.setAttribute(typesKey!, types)
  if (isTruncated) span.setAttribute('playhead.truncated', true)
  return isTruncated
}
