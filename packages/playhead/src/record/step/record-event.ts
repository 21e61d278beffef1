import { SpanStatusCode, type Attributes } from '@opentelemetry/api'
import { usageFields, type Usage } from '@playhead/model'
import { requireRuntime } from '../session/active-runtime.ts'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import type { ActionEvent, ErrorEvent, EventMessage, LLMEvent, PlayheadEvent, ToolEvent } from './events.ts'
import { messageOf } from '../session/session-lifecycle.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { endStep, isErrorRecorded, setError, startStep, type OpenStep } from './step.ts'

/**
 * Records something that took place, as a step of the session that this code runs in.
 *
 * @example
 * playhead.record(new playhead.ActionEvent({ actionType: "session_complete", params: { intent }, returns: { responseLength: reply.length } }))
 */
export function record(event: PlayheadEvent): void {
  const runtime = requireRuntime('record')
  runtime?.guard(() => {
    // By its word, not by its class: a process may hold this package twice.
    switch (event.eventType) {
      case 'action':
        return recordAction(runtime, event)
      case 'tool':
        return recordTool(runtime, event)
      case 'llm':
        return recordCall(runtime, event)
      case 'error':
        return recordError(runtime, event)
      default:
        runtime.reporter.once(
          'record',
          'record() takes an ActionEvent, a ToolEvent, an LLMEvent or an ErrorEvent.',
        )
    }
  })
}

function recordAction(runtime: Runtime, event: ActionEvent): void {
  const attributes: Attributes = { 'playhead.step.kind': 'action' }
  if (event.effect !== undefined) attributes['playhead.step.effect'] = event.effect
  setValue(runtime, attributes, 'playhead.action.arguments', event.params)
  setValue(runtime, attributes, 'playhead.action.result', event.returns)
  finish(runtime, event, event.actionType, attributes)
}

function recordTool(runtime: Runtime, event: ToolEvent): void {
  const attributes: Attributes = {
    'playhead.step.kind': 'action',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': event.name,
  }
  if (event.effect !== undefined) attributes['playhead.step.effect'] = event.effect
  if (event.callId !== undefined) attributes['gen_ai.tool.call.id'] = event.callId
  setValue(runtime, attributes, 'gen_ai.tool.call.arguments', event.params)
  setValue(runtime, attributes, 'gen_ai.tool.call.result', event.returns)
  finish(runtime, event, event.name, attributes)
}

/** Our names for tokens in the words of OpenTelemetry. */
const usageKeys: Readonly<Partial<Record<keyof Usage, string>>> = {
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  total: 'gen_ai.usage.total_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  audioInput: 'gen_ai.usage.audio.input_tokens',
  audioOutput: 'gen_ai.usage.audio.output_tokens',
  imageInput: 'gen_ai.usage.image.input_tokens',
}

function recordCall(runtime: Runtime, event: LLMEvent): void {
  const attributes: Attributes = {
    'playhead.step.kind': 'llm',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': event.model,
  }
  if (event.provider !== undefined) attributes['gen_ai.provider.name'] = event.provider
  for (const field of usageFields) {
    const key = usageKeys[field]
    const count = event.usage?.[field]
    if (key !== undefined && count !== undefined) attributes[key] = count
  }
  if (event.cost !== undefined) attributes['gen_ai.usage.cost'] = event.cost
  setValue(runtime, attributes, 'gen_ai.input.messages', toMessages(event.prompt, 'user'))
  setValue(runtime, attributes, 'gen_ai.output.messages', toMessages(event.completion, 'assistant'))
  finish(runtime, event, `chat ${event.model}`, attributes)
}

function toMessages(
  given: string | readonly EventMessage[] | undefined,
  role: string,
): readonly EventMessage[] | undefined {
  return typeof given === 'string' ? [{ role, content: given }] : given
}

/** An error that a step threw is already told of there; that it was noticed is an event without an error of its own. */
function recordError(runtime: Runtime, event: ErrorEvent): void {
  const type = event.errorType ?? (event.error instanceof Error ? event.error.name : 'Error')
  const step = begin(runtime, event, type, { 'playhead.step.kind': 'event' })
  const { traceId } = step.span.spanContext()
  const message = event.message ?? (event.error === undefined ? '' : messageOf(event.error))
  if (isErrorRecorded(traceId, event.error))
    step.span.setAttribute('output.value', runtime.serialize(message).text)
  else if (event.error !== undefined) setError(runtime, step.span, event.error)
  else {
    step.span.setAttribute('error.type', type)
    step.span.setStatus({
      code: SpanStatusCode.ERROR,
      message: runtime.settings.isContentKept ? message : '',
    })
  }
  endStep(runtime, step, endOf(event))
}

function finish(
  runtime: Runtime,
  event: ActionEvent | ToolEvent | LLMEvent,
  name: string,
  attributes: Attributes,
): void {
  const step = begin(runtime, event, name, attributes)
  if (event.error !== undefined) setError(runtime, step.span, event.error)
  endStep(runtime, step, endOf(event))
}

function begin(runtime: Runtime, event: PlayheadEvent, name: string, attributes: Attributes): OpenStep {
  return startStep(runtime, { name: name || 'unnamed', attributes, startTime: event.startedAt })
}

function endOf({ startedAt, endedAt }: PlayheadEvent): number {
  return Math.max(startedAt, endedAt ?? preciseNowMs())
}

function setValue(runtime: Runtime, attributes: Attributes, key: string, value: unknown): void {
  if (value === undefined) return
  if (typeof value === 'number' || typeof value === 'boolean') {
    attributes[key] = value
    return
  }
  const { text, isCut } = runtime.serialize(value)
  attributes[key] = text
  if (isCut) attributes['playhead.truncated'] = true
}
