import { firstText, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Message, Part } from '../session/message.ts'
import { readContent, readPart, simplifyPart, type ProviderPart } from './parts.ts'
import { readToolCall, readToolResult, unwrapBlocks } from './tool-use.ts'

/** A message as a provider sends it. */
export type ProviderMessage = Omit<Message, 'parts' | 'isOutput'> & { parts: ProviderPart[] }

/** No real sender nests batches of messages deeper. */
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

/** One message as a session shows it; undefined if it is empty. */
export function toMessage(raw: unknown, defaultRole: string): Message | undefined {
  const message = readMessage(raw, defaultRole)
  return message === undefined || message.parts.length === 0 ? undefined : simplify(message)
}

/** A message that consists of the given content; undefined if there is none. */
export function textMessage(role: string, content: unknown): Message | undefined {
  const parts = readContent(content)
  return parts.length === 0 ? undefined : simplify({ role, parts })
}

function simplify(message: ProviderMessage): Message {
  const { parts } = message
  for (let index = 0; index < parts.length; index++) parts[index] = simplifyPart(parts[index]!)
  return message as Message
}

/**
 * Gives tool results the role `tool`, although Anthropic, Gemini and Bedrock send them as the user. What the user says
 * beside them is a message of its own, in the same order.
 */
export function separateToolResults<One extends Message | ProviderMessage>(messages: One[]): One[] {
  return messages.some(isMixed)
    ? messages.flatMap((message) => (isMixed(message) ? split(message) : message))
    : messages
}

function isMixed({ role, parts }: Message | ProviderMessage): boolean {
  return role !== 'tool' && role !== 'assistant' && parts.some(({ type }) => type === 'tool-result')
}

function split<One extends Message | ProviderMessage>(message: One): One[] {
  const messages: One[] = []
  let isResult: boolean | undefined
  for (const part of message.parts) {
    if ((part.type === 'tool-result') !== isResult) {
      isResult = part.type === 'tool-result'
      messages.push((isResult ? { role: 'tool', parts: [] } : { ...message, parts: [] }) as unknown as One)
    }
    ;(messages.at(-1)!.parts as ProviderPart[]).push(part)
  }
  return messages
}

/** Marks messages as the model's output. */
export function asOutput(messages: Message[]): Message[] {
  for (const message of messages) message.isOutput = true
  return messages
}

/** Reads one message, which may have no parts; undefined if the value is not a message. */
export function readMessage(raw: unknown, defaultRole: string): ProviderMessage | undefined {
  if (typeof raw === 'string') return { role: defaultRole, parts: readContent(raw) }
  if (!isRecord(raw)) return undefined
  if (Array.isArray(raw.parts)) return withDetails(raw, roleOfParts(raw, defaultRole), readContent(raw.parts))
  if (raw.type === 'constructor' || raw.lc !== undefined) return fromLangChain(raw, defaultRole)
  if (isRecord(raw.message) && raw.content === undefined) return fromChoice(raw, raw.message, defaultRole)
  if (isRecord(raw.content) && Array.isArray(raw.content.parts))
    return fromChoice(raw, raw.content, defaultRole)
  if (raw.role === undefined && typeof raw.type === 'string') return fromItem(raw, raw.type, defaultRole)
  return fromChat(raw, normaliseRole(raw.role, defaultRole))
}

const roles = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
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
  ['toolmessagechunk', 'tool'],
  ['tool_result', 'tool'],
  ['tool-result', 'tool'],
  ['tool_response', 'tool'],
  ['tool-response', 'tool'],
  ['tool_call', 'assistant'],
  ['tool-call', 'assistant'],
])

export function normaliseRole(role: unknown, defaultRole: string): string {
  const text = toText(role)
  if (text === undefined) return defaultRole
  const known = roles.get(text)
  if (known !== undefined) return known
  const word = text.toLowerCase()
  return roles.get(word) ?? word
}

function withDetails(raw: JsonObject, role: string, parts: ProviderPart[]): ProviderMessage {
  const message: ProviderMessage = { role, parts }
  const name = toText(raw.name)
  if (name !== undefined) message.name = name
  const reason = firstText(raw.finish_reason, raw.finishReason, raw.stop_reason, raw.stopReason)
  if (reason !== undefined) message.finishReason = reason
  return message
}

/** pydantic's messages have a `kind` instead of a role; the first part tells more. */
function roleOfParts(raw: JsonObject, defaultRole: string): string {
  if (raw.role !== undefined) return normaliseRole(raw.role, defaultRole)
  if (raw.kind === 'response') return 'assistant'
  if (raw.kind !== 'request') return defaultRole
  const first: unknown = (raw.parts as unknown[])[0]
  const kind = isRecord(first) ? first.part_kind : undefined
  return kind === 'system-prompt' ? 'system' : kind === 'tool-return' ? 'tool' : 'user'
}

/** One of several answers: OpenAI's choice, Gemini's candidate. */
function fromChoice(choice: JsonObject, inner: JsonObject, defaultRole: string): ProviderMessage | undefined {
  const message = readMessage(inner, defaultRole)
  const reason = firstText(choice.finish_reason, choice.finishReason)
  if (message !== undefined && reason !== undefined) message.finishReason ??= reason
  return message
}

function fromLangChain(raw: JsonObject, defaultRole: string): ProviderMessage {
  const inner = isRecord(raw.kwargs) ? raw.kwargs : raw
  const className = Array.isArray(raw.id) ? raw.id.at(-1) : undefined
  const message = fromChat(inner, normaliseRole(className ?? inner.type, defaultRole))
  const metadata = inner.response_metadata
  if (isRecord(metadata)) {
    const reason = firstText(metadata.finish_reason, metadata.stop_reason)
    if (reason !== undefined) message.finishReason ??= reason
  }
  return message
}

const plainTypes = new Set(['human', 'ai', 'system', 'tool', 'function', 'user', 'assistant', 'message'])

/** An item of the responses API, or a message whose type is its role. */
function fromItem(raw: JsonObject, type: string, defaultRole: string): ProviderMessage {
  if (plainTypes.has(type) && !isRecord(raw.function)) {
    const inner = isRecord(raw.data) ? raw.data : raw
    return fromChat(inner, type === 'message' ? defaultRole : normaliseRole(type, defaultRole))
  }
  const part = readPart(raw)
  return { role: roleOfItem(part) ?? defaultRole, parts: [part] }
}

function roleOfItem({ type }: ProviderPart): string | undefined {
  if (type === 'tool-result' || type === 'server-tool-result') return 'tool'
  return type === 'tool-call' || type === 'server-tool-call' || type === 'reasoning' ? 'assistant' : undefined
}

function fromChat(raw: JsonObject, role: string): ProviderMessage {
  const parts = role === 'tool' ? toolParts(raw) : readContent(raw.content ?? raw.text)
  const reasoning = firstText(raw.reasoning_content, raw.reasoning, raw.thinking)
  if (reasoning !== undefined) parts.unshift({ type: 'reasoning', text: reasoning })
  const refusal = toText(raw.refusal)
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal })
  addToolCalls(parts, raw.tool_calls ?? raw.toolCalls)
  if (isRecord(raw.function_call)) parts.push(readToolCall(raw.function_call))
  if (isRecord(raw.additional_kwargs)) addToolCalls(parts, raw.additional_kwargs.tool_calls)
  if (isRecord(raw.audio)) addSpeech(parts, raw.audio)
  if (Array.isArray(raw.images)) parts.push(...raw.images.map(readImage))
  return withDetails(raw, role, parts)
}

/** Spoken output: transcript and audio. */
function addSpeech(parts: ProviderPart[], { transcript, data }: JsonObject): void {
  parts.push(...readContent(transcript))
  if (toText(data) !== undefined) parts.push(readPart({ type: 'audio', data }))
}

/** Ollama sends base64, OpenRouter a part. */
function readImage(image: unknown): ProviderPart {
  return readPart(typeof image === 'string' ? { type: 'image', image } : image)
}

/** Adds calls that the content does not list already, compared by id, or by name if there is no id. */
export function addToolCalls(parts: (Part | ProviderPart)[], calls: unknown): void {
  if (!Array.isArray(calls)) return
  const before = parts.length
  for (const call of calls) {
    if (!isRecord(call)) continue
    const part = readToolCall(call)
    const index = parts.findIndex((other) => isSameCall(other, part))
    if (index === -1 || index >= before) parts.push(part)
  }
}

function isSameCall(left: ProviderPart, right: ProviderPart): boolean {
  if (left.type !== 'tool-call' || right.type !== 'tool-call') return false
  return left.id === right.id && (left.id !== undefined || left.name === right.name)
}

/** A tool's message is its result, unless its content is a list of results already. */
function toolParts(raw: JsonObject): ProviderPart[] {
  const content = parseJson(raw.content)
  if (Array.isArray(content)) {
    const parts = content.map(readPart)
    if (parts.some((part) => part.type === 'tool-result')) return parts
    return [readToolResult({ ...raw, data: undefined })]
  }
  if (isRecord(content)) {
    const part = readPart(content)
    if (part.type === 'tool-result' && content.type !== undefined) return [part]
  }
  return [readToolResult({ ...raw, content: unwrapBlocks(content) ?? null, data: undefined })]
}
