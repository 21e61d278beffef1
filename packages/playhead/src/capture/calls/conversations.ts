import type { Span } from '@opentelemetry/api'
import type { ModelRequest, ModelResponse } from '@playhead/model'
import { parentIdOf, type RecordedSpan } from '../../record/opentelemetry/recorded-span.ts'
import { recordOf } from '../../record/session/session-record.ts'

type Message = ModelRequest['messages'][number]

/** A bound for programs that never end: the oldest are forgotten. */
const MAX_KEYS = 2_000
/** How much of the first message tells conversations apart whose tool calls have the same ids. */
const MAX_TEXT = 200

/**
 * Knows which call a later one goes on from: one that sends the results of the tools that the earlier one asked for.
 * Outside of any session each call is a trace of its own, and this is what makes one session of them.
 */
export class Conversations {
  /** The steps that asked, as `trace id-span id`. */
  readonly #steps = new Map<string, string>()

  /** The call that this one continues; undefined if it begins something, or if it is in a session. */
  find(span: Span, request: ModelRequest): string | undefined {
    if (this.#steps.size === 0 || isInSession(span)) return undefined
    for (const key of keysOfRequest(request)) {
      const step = this.#steps.get(key)
      if (step !== undefined) return step
    }
    return undefined
  }

  /** Remembers what a call outside of any session can be continued by. */
  remember(span: Span, request: ModelRequest, response: ModelResponse): void {
    if (isInSession(span)) return
    const { traceId, spanId } = span.spanContext()
    for (const key of keysOfResponse(request, response)) {
      this.#steps.delete(key)
      this.#steps.set(key, `${traceId}-${spanId}`)
    }
    for (const key of this.#steps.keys()) {
      if (this.#steps.size <= MAX_KEYS) return
      this.#steps.delete(key)
    }
  }
}

/** Anything around a call makes it part of a session, except a span of the provider's own client. */
function isInSession(span: Span): boolean {
  const parentId = parentIdOf(span as unknown as RecordedSpan)
  if (parentId === undefined) return false
  const parent = recordOf(span)?.open.get(parentId)
  if (parent === undefined || parentIdOf(parent) !== undefined) return true
  return parent.attributes['gen_ai.request.model'] === undefined
}

function keysOfResponse(request: ModelRequest, { id, messages }: ModelResponse): string[] {
  const start = startOf(request)
  return [
    ...toolCallsOf(messages).map((call) => start + call),
    ...(id === undefined ? [] : [`response ${id}`]),
  ]
}

function keysOfRequest(request: ModelRequest): string[] {
  const { messages, attributes } = request
  const answered = messages.findLastIndex(hasToolResult)
  // Without results it is a new turn of the user, not the same run.
  if (answered === -1) return []
  const previous = attributes['gen_ai.request.previous_response_id']
  if (typeof previous === 'string') return [`response ${previous}`]
  // Only what was just answered: earlier tool calls are those of earlier calls.
  const asked = messages.slice(0, answered + 1).findLastIndex((message) => toolCallsOf([message]).length > 0)
  if (asked === -1) return []
  const start = startOf(request)
  return toolCallsOf([messages[asked]!]).map((call) => start + call)
}

function hasToolResult({ parts }: Message): boolean {
  return parts.some(({ type }) => type === 'tool-result')
}

function toolCallsOf(messages: readonly Message[]): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type !== 'tool-call') return []
      const { id, name, arguments: given } = part
      return [`${name} ${id ?? JSON.stringify(given)}`]
    }),
  )
}

/** Some servers count their tool calls, so ids alone would join strangers. */
function startOf({ messages }: ModelRequest): string {
  const first = messages.find(({ role }) => role === 'user') ?? messages[0]
  const text = first === undefined ? '' : JSON.stringify(first.parts).slice(0, MAX_TEXT)
  return `${text} `
}
