import * as types from 'node:util/types'
import { SpanStatusCode, type Attributes } from '@opentelemetry/api'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import { usageAttributes } from '../opentelemetry/usage-attributes.ts'
import { requireRecorder } from '../session/active-recorder.ts'
import { isErrorRecorded, recordError } from '../session/record-error.ts'
import type { Recorder } from '../session/recorder.ts'
import { summarizeError } from '../value/describe-error.ts'
import { findDataProperty } from '../value/describe-object.ts'
import { readAllFields, readField, toName } from '../value/host-value.ts'
import {
  ActionEvent,
  ErrorEvent,
  LLMEvent,
  ToolEvent,
  type EventMessage,
  type PlayheadEvent,
} from './events.ts'
import { endStep, setValue, startStep, type OpenStep } from './step.ts'

/**
 * Records something that already happened, as a step of the current session.
 *
 * @example
 * playhead.record(new playhead.ActionEvent({ actionType: "session_complete", params: { intent }, returns: { responseLength: reply.length } }))
 */
export function record(event: PlayheadEvent): void {
  const recorder = requireRecorder('record')
  recorder?.guard(() => {
    // Not `instanceof`: a process may hold this package twice. Copied, because the host may pass or change anything.
    switch (readField(event, 'eventType')) {
      case 'action':
        return recordActionEvent(recorder, new ActionEvent(event as ActionEvent))
      case 'tool':
        return recordToolEvent(recorder, new ToolEvent(event as ToolEvent))
      case 'llm':
        return recordLlmEvent(recorder, new LLMEvent(event as LLMEvent))
      case 'error':
        return recordErrorEvent(recorder, new ErrorEvent(event))
      default:
        recorder.reporter.once(
          'record',
          'record() takes an ActionEvent, a ToolEvent, an LLMEvent or an ErrorEvent.',
        )
    }
  })
}

function recordActionEvent(recorder: Recorder, event: ActionEvent): void {
  const attributes: Attributes = { 'playhead.step.kind': 'action', 'playhead.step.reported': true }
  if (event.effect !== undefined) attributes['playhead.step.effect'] = event.effect
  recordCall(recorder, event, {
    name: event.actionType,
    attributes,
    values: { 'playhead.action.arguments': event.params, 'playhead.action.result': event.returns },
  })
}

function recordToolEvent(recorder: Recorder, event: ToolEvent): void {
  const attributes: Attributes = {
    'playhead.step.kind': 'action',
    'playhead.step.reported': true,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': event.name,
  }
  if (event.effect !== undefined) attributes['playhead.step.effect'] = event.effect
  if (event.callId !== undefined) attributes['gen_ai.tool.call.id'] = event.callId
  recordCall(recorder, event, {
    name: event.name,
    attributes,
    values: { 'gen_ai.tool.call.arguments': event.params, 'gen_ai.tool.call.result': event.returns },
  })
}

function recordLlmEvent(recorder: Recorder, event: LLMEvent): void {
  const attributes: Attributes = {
    'playhead.step.kind': 'llm',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': event.model,
    ...usageAttributes({ ...readAllFields(event.usage), cost: event.cost }),
  }
  if (event.provider !== undefined) attributes['gen_ai.provider.name'] = event.provider
  recordCall(recorder, event, {
    name: `chat ${event.model}`,
    attributes,
    values: {
      'gen_ai.input.messages': toMessages(event.prompt, 'user'),
      'gen_ai.output.messages': toMessages(event.completion, 'assistant'),
    },
  })
}

function toMessages(
  content: string | readonly EventMessage[] | undefined,
  role: string,
): readonly EventMessage[] | undefined {
  return typeof content === 'string' ? [{ role, content }] : content
}

/** An error that a step threw is already recorded there, so the event only notes it as text. */
function recordErrorEvent(recorder: Recorder, event: ErrorEvent): void {
  const { error } = event
  const name = types.isNativeError(error) ? toName(findDataProperty(error, 'name')) : undefined
  const type = event.errorType ?? name ?? 'Error'
  const step = startEvent(recorder, event, type, { 'playhead.step.kind': 'event' })
  const { traceId } = step.span.spanContext()
  const message = event.message ?? (event.error === undefined ? '' : summarizeError(event.error))
  if (isErrorRecorded(traceId, event.error))
    step.span.setAttribute('output.value', recorder.serialize(message).text)
  else if (event.error !== undefined) recordError(recorder, step.span, event.error)
  else {
    step.span.setAttribute('error.type', type)
    step.span.setStatus({
      code: SpanStatusCode.ERROR,
      message: recorder.serializeOptions.isContentKept ? message : '',
    })
  }
  endStep(recorder, step, endMsOf(event))
}

type CallParts = { name: string; attributes: Attributes; values: Record<string, unknown> }

function recordCall(
  recorder: Recorder,
  event: ActionEvent | ToolEvent | LLMEvent,
  { name, attributes, values }: CallParts,
): void {
  const step = startEvent(recorder, event, name, attributes)
  const cut = Object.keys(values).filter((key) => setValue(recorder, step.span, key, values[key]))
  if (cut.length > 0) step.span.setAttribute('playhead.truncated.of', cut.map(nameOfCut))
  if (event.error !== undefined) recordError(recorder, step.span, event.error)
  endStep(recorder, step, endMsOf(event))
}

/** As the calls of functions and models name what was cut. */
function nameOfCut(key: string): string {
  return key === 'gen_ai.output.messages' ? 'response' : key.slice(key.lastIndexOf('.') + 1)
}

function startEvent(
  recorder: Recorder,
  event: PlayheadEvent,
  name: string,
  attributes: Attributes,
): OpenStep {
  return startStep(recorder, { name, attributes, startTime: event.startedAt })
}

function endMsOf({ startedAt, endedAt }: PlayheadEvent): number {
  return Math.max(startedAt, endedAt ?? preciseNowMs())
}
