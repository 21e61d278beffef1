import type { Effect, Usage } from '@playhead/model'
import { preciseNowMs } from '../opentelemetry/clock.ts'
import { readField, toMs, toName, toText } from '../value/host-value.ts'

/** The name of what the host did not name. */
export const UNNAMED = 'unnamed'

/** When the event happened. By default it lasts from its creation until `record`. */
export type EventTimes = {
  /** Milliseconds since 1970, or a date. */
  startedAt?: number | Date | undefined
  endedAt?: number | Date | undefined
}

abstract class RecordedEvent {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly endedAt: number | undefined
  readonly error: unknown

  constructor(options: EventTimes & { error?: unknown }) {
    this.startedAt = toMs(readField(options, 'startedAt')) ?? preciseNowMs()
    this.endedAt = toMs(readField(options, 'endedAt'))
    this.error = readField(options, 'error')
  }
}

export type ActionEventOptions = EventTimes & {
  /** Its name, for example "session_complete". */
  actionType: string
  params?: unknown
  returns?: unknown
  effect?: Effect | undefined
  /** Set if the action failed. */
  error?: unknown
}

/**
 * An action that already happened, for `record`.
 *
 * @example
 * playhead.record(new playhead.ActionEvent({ actionType: "session_complete", params: { intent }, returns: { responseLength: reply.length } }))
 */
export class ActionEvent extends RecordedEvent {
  readonly eventType = 'action'
  readonly actionType: string
  readonly params: unknown
  readonly returns: unknown
  readonly effect: Effect | undefined

  constructor(options: ActionEventOptions) {
    super(options)
    this.actionType = toName(readField(options, 'actionType')) ?? UNNAMED
    this.params = readField(options, 'params')
    this.returns = readField(options, 'returns')
    this.effect = toEffect(readField(options, 'effect'))
  }
}

export type ToolEventOptions = EventTimes & {
  name: string
  params?: unknown
  returns?: unknown
  effect?: Effect | undefined
  /** The id of the tool call in the model's response. */
  callId?: string | undefined
  error?: unknown
}

/**
 * A tool call that already happened, for `record`.
 *
 * @example
 * playhead.record(new playhead.ToolEvent({ name: "search_docs", params: { query }, returns: documents, callId: call.id }))
 */
export class ToolEvent extends RecordedEvent {
  readonly eventType = 'tool'
  readonly name: string
  readonly params: unknown
  readonly returns: unknown
  readonly effect: Effect | undefined
  readonly callId: string | undefined

  constructor(options: ToolEventOptions) {
    super(options)
    this.name = toName(readField(options, 'name')) ?? UNNAMED
    this.params = readField(options, 'params')
    this.returns = readField(options, 'returns')
    this.effect = toEffect(readField(options, 'effect'))
    this.callId = toName(readField(options, 'callId'))
  }
}

/** A message to or from a model: text, or content parts in the provider's format. */
export type EventMessage = { role: string; content: unknown }

export type LLMEventOptions = EventTimes & {
  /** The model, for example "gpt-4o". */
  model: string
  /** "openai", "anthropic", …; by default derived from the model's name for the large providers. */
  provider?: string | undefined
  /** The prompt: text of the user, or messages. */
  prompt?: string | readonly EventMessage[] | undefined
  /** The response: text, or messages. */
  completion?: string | readonly EventMessage[] | undefined
  /** Tokens. `input` includes cache reads and writes, `output` includes reasoning. */
  usage?: Usage | undefined
  /** US dollars; overrides the price table. */
  cost?: number | undefined
  error?: unknown
}

/**
 * A model call that Playhead could not capture, for `record`. Calls over HTTP are captured automatically.
 *
 * @example
 * playhead.record(new playhead.LLMEvent({ model: "gpt-4o", prompt, completion, usage: { input: 120, output: 42 } }))
 */
export class LLMEvent extends RecordedEvent {
  readonly eventType = 'llm'
  readonly model: string
  readonly provider: string | undefined
  readonly prompt: string | readonly EventMessage[] | undefined
  readonly completion: string | readonly EventMessage[] | undefined
  readonly usage: Usage | undefined
  readonly cost: number | undefined

  constructor(options: LLMEventOptions) {
    super(options)
    this.model = toName(readField(options, 'model')) ?? UNNAMED
    this.provider = toName(readField(options, 'provider'))
    this.prompt = readField(options, 'prompt') as LLMEvent['prompt']
    this.completion = readField(options, 'completion') as LLMEvent['completion']
    this.usage = readField(options, 'usage') as Usage | undefined
    this.cost = readField(options, 'cost') as number | undefined
  }
}

export type ErrorEventOptions = EventTimes & {
  /** What was thrown. */
  error?: unknown
  /** The type and message, if there is no error object. */
  errorType?: string | undefined
  message?: string | undefined
}

/**
 * An error that no step threw, for `record`. An error that a step already recorded is not counted again.
 *
 * @example
 * playhead.record(new playhead.ErrorEvent({ errorType: "PolicyViolation", message: "the reply promises a refund" }))
 */
export class ErrorEvent extends RecordedEvent {
  readonly eventType = 'error'
  readonly errorType: string | undefined
  readonly message: string | undefined

  constructor(options: ErrorEventOptions) {
    super(options)
    this.errorType = toName(readField(options, 'errorType'))
    this.message = toText(readField(options, 'message'))
  }
}

export type PlayheadEvent = ActionEvent | ToolEvent | LLMEvent | ErrorEvent

export function toEffect(value: unknown): Effect | undefined {
  return value === 'read' || value === 'write' ? value : undefined
}
