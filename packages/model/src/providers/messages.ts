import type { Message, Part } from '../session/message.ts'
import { firstText, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import { toPart, toToolCall, toToolResult, unwrapBlocks } from './parts.ts'

/** Nothing real nests batches of messages deeper. */
const MAX_NESTING = 4

/** Messages in any shape: semconv, OpenAI chat and responses, Anthropic, Gemini, Bedrock, Vercel, LangChain, pydantic. */
export function toMessages(value: unknown, defaultRole: string, nesting = 0): Message[] {
  if (!Array.isArray(value)) {
    const message = toMessage(value, defaultRole)
    return message === undefined ? [] : [message]
  }
  const messages: Message[] = []
  for (const item of value) {
    if (Array.isArray(item)) {
      if (nesting < MAX_NESTING) messages.push(...toMessages(item, defaultRole, nesting + 1))
    } else {
      const message = toMessage(item, defaultRole)
      if (message !== undefined) messages.push(message)
    }
  }
  return messages
}

/** One message; undefined when there is nothing in it. */
export function toMessage(raw: unknown, defaultRole: string): Message | undefined {
  if (typeof raw === 'string') {
    return raw === '' ? undefined : { role: defaultRole, parts: [{ type: 'text', text: raw }] }
  }
  if (!isRecord(raw)) return undefined
  if (Array.isArray(raw.parts)) return fromParts(raw, raw.parts, defaultRole)
  if (raw.type === 'constructor' || raw.lc !== undefined) return fromLangChain(raw, defaultRole)
  if (isRecord(raw.message) && raw.content === undefined) return fromChoice(raw, raw.message, defaultRole)
  if (raw.role === undefined && typeof raw.type === 'string') return fromItem(raw, raw.type, defaultRole)
  return fromChat(raw, normaliseRole(raw.role, defaultRole))
}

/** Messages of one role that hold nothing but the given content. */
export function textMessage(role: string, content: unknown): Message | undefined {
  const parts = partsOfContent(content)
  return parts.length === 0 ? undefined : { role, parts }
}

/** Marks what the model answered. */
export function asOutput(messages: Message[]): Message[] {
  for (const message of messages) message.isOutput = true
  return messages
}

/** The parts of a content that may be text, one part or a list of them. */
function partsOfContent(content: unknown): Part[] {
  if (content === undefined || content === null || content === '') return []
  return Array.isArray(content) ? content.map(toPart) : [toPart(content)]
}

const roles = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['bot', 'assistant'],
  ['developer', 'system'],
  ['function', 'tool'],
  ['humanmessage', 'user'],
  ['humanmessagechunk', 'user'],
  ['aimessage', 'assistant'],
  ['aimessagechunk', 'assistant'],
  ['systemmessage', 'system'],
  ['toolmessage', 'tool'],
  ['functionmessage', 'tool'],
])

export function normaliseRole(role: unknown, defaultRole: string): string {
  const text = toText(role)
  if (text === undefined) return defaultRole
  const word = text.toLowerCase()
  return roles.get(word) ?? word
}

/** Parts of empty text say nothing, nor does a message of nothing else. */
function fromParts(raw: JsonObject, list: unknown[], defaultRole: string): Message | undefined {
  const parts: Part[] = []
  for (const item of list) {
    const part = toPart(item)
    if (part.type !== 'text' || part.text !== '') parts.push(part)
  }
  return parts.length === 0 ? undefined : withDetails(raw, roleOfParts(raw, defaultRole), parts)
}

function withDetails(raw: JsonObject, role: string, parts: Part[]): Message {
  const message: Message = { role, parts }
  const name = toText(raw.name)
  if (name !== undefined) message.name = name
  const reason = firstText(raw.finish_reason, raw.finishReason, raw.stop_reason, raw.stopReason)
  if (reason !== undefined) message.finishReason = reason
  return message
}

/** pydantic's own messages say `kind` instead of a role, and their parts what they are. */
function roleOfParts(raw: JsonObject, defaultRole: string): string {
  if (raw.role !== undefined) return normaliseRole(raw.role, defaultRole)
  if (raw.kind === 'response') return 'assistant'
  if (raw.kind !== 'request') return defaultRole
  const first: unknown = (raw.parts as unknown[])[0]
  const kind = isRecord(first) ? first.part_kind : undefined
  return kind === 'system-prompt' ? 'system' : kind === 'tool-return' ? 'tool' : 'user'
}

function fromChoice(choice: JsonObject, inner: JsonObject, defaultRole: string): Message | undefined {
  const message = toMessage(inner, defaultRole)
  const reason = firstText(choice.finish_reason, choice.finishReason)
  if (message !== undefined && reason !== undefined) message.finishReason ??= reason
  return message
}

function fromLangChain(raw: JsonObject, defaultRole: string): Message | undefined {
  const inner = isRecord(raw.kwargs) ? raw.kwargs : raw
  const className = Array.isArray(raw.id) ? raw.id.at(-1) : undefined
  const message = fromChat(inner, normaliseRole(className ?? inner.type, defaultRole))
  const metadata = inner.response_metadata
  if (message !== undefined && isRecord(metadata)) {
    const reason = firstText(metadata.finish_reason, metadata.stop_reason)
    if (reason !== undefined) message.finishReason ??= reason
  }
  return message
}

const plainTypes = new Set(['human', 'ai', 'system', 'tool', 'function', 'user', 'assistant', 'message'])

/** An item of the responses API, or a message that says its role as a type. */
function fromItem(raw: JsonObject, type: string, defaultRole: string): Message | undefined {
  if (plainTypes.has(type) && !isRecord(raw.function)) {
    const inner = isRecord(raw.data) ? raw.data : raw
    return fromChat(inner, type === 'message' ? defaultRole : normaliseRole(type, defaultRole))
  }
  const part = toPart(raw)
  if (part.type === 'tool-result') return { role: 'tool', parts: [part] }
  const isFromModel = part.type === 'tool-call' || part.type === 'reasoning'
  return { role: isFromModel ? 'assistant' : defaultRole, parts: [part] }
}

function fromChat(raw: JsonObject, role: string): Message | undefined {
  const parts = role === 'tool' ? toolParts(raw) : partsOfContent(raw.content ?? raw.text)
  const reasoning = firstText(raw.reasoning_content, raw.reasoning)
  if (reasoning !== undefined) parts.unshift({ type: 'reasoning', text: reasoning })
  const refusal = toText(raw.refusal)
  if (refusal !== undefined) parts.push({ type: 'text', text: refusal })
  addToolCalls(parts, raw.tool_calls ?? raw.toolCalls)
  if (isRecord(raw.function_call)) parts.push(toToolCall(raw.function_call))
  if (isRecord(raw.additional_kwargs)) addToolCalls(parts, raw.additional_kwargs.tool_calls)
  if (parts.length === 0) return undefined
  return withDetails(raw, role, parts)
}

/** Providers repeat a call in the content and in a list of its own; the id tells. */
export function addToolCalls(parts: Part[], calls: unknown): void {
  if (!Array.isArray(calls)) return
  for (const call of calls) {
    if (!isRecord(call)) continue
    const part = toToolCall(call)
    if (!parts.some((other) => isSameCall(other, part))) parts.push(part)
  }
}

function isSameCall(left: Part, right: Part): boolean {
  if (left.type !== 'tool-call' || right.type !== 'tool-call') return false
  return left.id === right.id && (left.id !== undefined || left.name === right.name)
}

/** A tool's message is its result, unless its content already is a list of results. */
function toolParts(raw: JsonObject): Part[] {
  const content = parseJson(raw.content)
  if (Array.isArray(content)) {
    const parts = content.map(toPart)
    if (parts.some((part) => part.type === 'tool-result')) return parts
  }
  if (isRecord(content)) {
    const part = toPart(content)
    if (part.type === 'tool-result' && content.type !== undefined) return [part]
  }
  return [toToolResult({ ...raw, content: unwrapBlocks(content) ?? null, data: undefined })]
}
