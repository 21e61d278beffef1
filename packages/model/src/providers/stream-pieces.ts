import { isRecord, textOf, toObject, toObjects, toText, type JsonObject } from '../json/attribute-value.ts'
import { parseJsonText } from '../json/json-text.ts'
import type { Message, Part } from '../session/message.ts'
import { anthropicMessages } from './anthropic.ts'
import { geminiGenerate } from './gemini.ts'
import type { ModelApi } from './model-api.ts'
import { ollamaChat } from './ollama.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'

/** The response that a list of stream events amounts to; any other value as it is. */
export function assembleEvents(response: unknown): unknown {
  if (!Array.isArray(response) || response.length === 0 || !response.every(isRecord)) return response
  const events = response.map(asChatEvent)
  const api = events.map(apiOfEvent).find((found) => found !== undefined)
  if (api === undefined) return response
  const assembler = api.createAssembler()
  for (const event of events) assembler.add(event)
  return assembler.response()
}

function apiOfEvent(event: JsonObject): ModelApi | undefined {
  const type = textOf(event.type)
  if (/^(?:message|content_block)_(?:start|delta|stop)$/.test(type)) return anthropicMessages
  if (/^response\.[a-z]/.test(type)) return openAiResponses
  if (Array.isArray(event.candidates)) return geminiGenerate
  if (toObjects(event.choices).some((choice) => isRecord(choice.delta))) return openAiChat
  const isOllama = isRecord(event.message) || typeof event.response === 'string'
  return typeof event.done === 'boolean' && isOllama ? ollamaChat : undefined
}

/** LangChain's chunks are messages; their tool calls come in pieces like OpenAI's. */
function asChatEvent(event: JsonObject): JsonObject {
  const name: unknown = Array.isArray(event.id) ? event.id.at(-1) : event.type
  if (name !== 'AIMessageChunk') return event
  const chunk = isRecord(event.kwargs) ? event.kwargs : event
  const metadata = toObject(chunk.response_metadata)
  const calls = toObjects(chunk.tool_call_chunks).map((call) => ({
    index: call.index ?? undefined,
    id: toText(call.id),
    function: { name: call.name, arguments: call.args },
  }))
  return {
    model: metadata.model_name,
    usage: chunk.usage_metadata,
    choices: [
      {
        delta: { content: chunk.content, ...(calls.length > 0 && { tool_calls: calls }) },
        finish_reason: metadata.finish_reason ?? metadata.stop_reason,
      },
    ],
  }
}

/** Joins the replies, and the parts of a reply, that are pieces of one stream. */
export function joinPieces(messages: Message[]): Message[] {
  const joined = isStream(messages) ? joinMessages(messages) : messages
  for (const message of joined) if (message.parts.length > 1) message.parts = joinParts(message.parts)
  return joined
}

/** Whole replies end at a word and have a finish reason each; only the last piece of a stream has one. */
function isStream(messages: readonly Message[]): boolean {
  if (messages.length < 2) return false
  const endsOnce =
    messages.at(-1)!.finishReason !== undefined &&
    messages.slice(0, -1).every(({ finishReason }) => finishReason === undefined)
  return (
    endsOnce ||
    messages.some(
      ({ parts }, index) => index > 0 && hasSpaceBetween(messages[index - 1]!.parts.at(-1), parts[0]),
    )
  )
}

function hasSpaceBetween(left: Part | undefined, right: Part | undefined): boolean {
  if (left?.type !== 'text' || right?.type !== 'text') return false
  return /\s$/.test(left.text) || /^\s/.test(right.text)
}

function joinMessages(messages: readonly Message[]): Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last === undefined || !continues(last, message))
      joined.push({ ...message, parts: [...message.parts] })
    else {
      last.parts.push(...message.parts)
      if (message.finishReason !== undefined) last.finishReason = message.finishReason
    }
  }
  return joined
}

function continues(last: Message, next: Message): boolean {
  if (last.finishReason !== undefined || last.role !== next.role || last.name !== next.name) return false
  const [left, right] = [last.parts.at(-1), next.parts[0]]
  return left !== undefined && right !== undefined && isContinued(left, right)
}

function joinParts(parts: readonly Part[]): Part[] {
  const joined: Part[] = []
  parts.forEach((part, index) => {
    const whole = index > 0 && isContinued(parts[index - 1]!, part) ? joinPart(joined.at(-1)!, part) : part
    if (whole === part) joined.push(part)
    else joined[joined.length - 1] = whole
  })
  return joined
}

function isContinued(left: Part, right: Part): boolean {
  if (right.type === 'tool-call') {
    return left.type === 'tool-call' && right.name === '' && (right.id === undefined || right.id === left.id)
  }
  if (left.type === 'reasoning' && right.type === 'reasoning') {
    if (left.text === undefined || right.text === undefined || left.signature !== undefined) return false
    return isSeamless(left.text, right.text)
  }
  return left.type === 'text' && right.type === 'text' && isSeamless(left.text, right.text)
}

function joinPart(left: Part, right: Part): Part {
  if (left.type === 'tool-call' && right.type === 'tool-call')
    return { ...left, arguments: parseJsonText(argumentText(left.arguments) + argumentText(right.arguments)) }
  if ('text' in left && 'text' in right) return { ...left, ...right, text: `${left.text}${right.text}` }
  return right
}

function argumentText(value: unknown): string {
  if (typeof value === 'string') return value
  return isRecord(value) && Object.keys(value).length === 0 ? '' : JSON.stringify(value)
}

/** False between paragraphs: the second begins with a capital letter, after the end of a sentence or of some words. */
function isSeamless(left: string, right: string): boolean {
  if (/\s$/.test(left) || !/^\p{Lu}/u.test(right)) return true
  return !/\S{2}[.!?…”]$/.test(left) && !/\S\s+\S*\p{Ll}$/u.test(left)
}
