import type { Part } from '../session/message.ts'
import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson, parseJsonText } from '../json/json-text.ts'
import { hasMediaInside, toMedia } from './media.ts'

/** One part of a message in any shape that a provider or framework writes. */
export function toPart(raw: unknown): Part {
  if (typeof raw === 'string') return { type: 'text', text: raw }
  if (!isRecord(raw)) return { type: 'other', raw }
  const type = raw.type ?? raw.part_kind
  const read = typeof type === 'string' ? partReaders.get(type) : undefined
  return (read === undefined ? toUntypedPart(raw) : read(raw)) ?? { type: 'other', raw }
}

/** A tool call, however it is nested. */
export function toToolCall(raw: JsonObject): Part {
  const call = isRecord(raw.function) ? raw.function : raw
  const name = firstText(call.name, raw.name, raw.toolName, raw.tool_name, raw.type) ?? ''
  const given = firstDefined(call, ['arguments', 'args', 'input', 'parameters', 'action'])
  const part: Part = { type: 'tool-call', name, arguments: parseJson(given) ?? {} }
  const id = firstText(
    raw.call_id,
    raw.callId,
    raw.toolCallId,
    raw.tool_call_id,
    raw.toolUseId,
    raw.id,
    raw.ref,
  )
  if (id !== undefined) part.id = id
  return part
}

/** What a tool gave back. */
export function toToolResult(raw: JsonObject): Part {
  const given = firstDefined(raw, ['response', 'result', 'output', 'content', 'value', 'data'])
  const { result, isError } = unwrapToolOutput(given)
  const part: Part = { type: 'tool-result', result }
  const id = firstText(
    raw.tool_use_id,
    raw.tool_call_id,
    raw.toolCallId,
    raw.call_id,
    raw.callId,
    raw.toolUseId,
    raw.id,
    raw.ref,
  )
  const name = firstText(raw.name, raw.toolName, raw.tool_name)
  if (id !== undefined) part.id = id
  if (name !== undefined) part.name = name
  const isFailed = raw.is_error === true || raw.isError === true || raw.status === 'error'
  if (isError || isFailed) part.isError = true
  return part
}

/** Vercel wraps a result as { type, value }; Anthropic, Bedrock and MCP as a list of blocks. */
function unwrapToolOutput(given: unknown): { result: unknown; isError: boolean } {
  if (isRecord(given) && typeof given.type === 'string' && 'value' in given) {
    return { result: given.value, isError: given.type.startsWith('error') }
  }
  return { result: unwrapBlocks(parseJson(given) ?? null), isError: false }
}

/** The content of a text block, or of a list that holds a single one; anything else as it is. */
export function unwrapBlocks(value: unknown): unknown {
  const isList = Array.isArray(value)
  const block: unknown = isList && value.length === 1 ? value[0] : value
  if (!isRecord(block)) return value
  const isTextBlock =
    block.type === 'text' || block.type === 'output_text' || (isList && block.type === undefined)
  if (isTextBlock && typeof block.text === 'string') return parseJsonText(block.text)
  return isList && block.type === undefined && 'json' in block ? block.json : value
}

function toText(raw: JsonObject): Part | undefined {
  const text = raw.text ?? raw.content ?? raw.value ?? raw.refusal
  if (typeof text === 'string') return { type: 'text', text }
  return isRecord(text) && typeof text.value === 'string' ? { type: 'text', text: text.value } : undefined
}

function toReasoning(raw: JsonObject): Part {
  const part: Part = { type: 'reasoning' }
  const text =
    firstText(raw.content, raw.text, raw.thinking, raw.reasoning) ??
    joinTexts(raw.summary) ??
    joinTexts(raw.content)
  if (text !== undefined) part.text = text
  const signature = firstText(raw.signature, raw.encrypted_content)
  if (signature !== undefined) part.signature = signature
  if (raw.type === 'redacted_thinking') part.isRedacted = true
  return part
}

function joinTexts(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined
  const texts = list.map((item) => (isRecord(item) ? firstText(item.text) : firstText(item)))
  return firstText(texts.filter((text) => text !== undefined).join('\n'))
}

/** Gemini, Bedrock and Genkit name the part by its only key. */
function toUntypedPart(raw: JsonObject): Part | undefined {
  if (typeof raw.text === 'string') {
    return raw.thought === true ? { type: 'reasoning', text: raw.text } : { type: 'text', text: raw.text }
  }
  const call = raw.function_call ?? raw.functionCall ?? raw.toolUse ?? raw.toolRequest
  if (isRecord(call)) return toToolCall(call)
  const answer = raw.function_response ?? raw.functionResponse ?? raw.toolResult ?? raw.toolResponse
  if (isRecord(answer)) return toToolResult(answer)
  const thought = raw.reasoningContent
  if (isRecord(thought)) return toReasoning(isRecord(thought.reasoningText) ? thought.reasoningText : thought)
  if (isRecord(raw.function)) return toToolCall(raw)
  return hasMediaInside(raw) ? toMedia(raw) : undefined
}

function firstDefined(raw: JsonObject, keys: readonly string[]): unknown {
  for (const key of keys) if (raw[key] !== undefined) return raw[key]
  return undefined
}

type PartReader = (raw: JsonObject) => Part | undefined

const partReaders = new Map<string, PartReader>([
  ...readersOf(toText, [
    'text',
    'input_text',
    'output_text',
    'summary_text',
    'refusal',
    'system-prompt',
    'user-prompt',
    'retry-prompt',
  ]),
  ...readersOf(toReasoning, [
    'reasoning',
    'thinking',
    'redacted_thinking',
    'reasoning_content',
    'reasoning_text',
    'thought',
  ]),
  ...readersOf(toToolCall, [
    'tool_call',
    'tool-call',
    'tool_use',
    'toolCall',
    'function',
    'function_call',
    'server_tool_call',
    'server_tool_use',
    'mcp_call',
    'mcp_tool_use',
    'custom_tool_call',
    'web_search_call',
    'file_search_call',
    'code_interpreter_call',
    'computer_call',
    'image_generation_call',
    'local_shell_call',
    'builtin-tool-call',
  ]),
  ...readersOf(toToolResult, [
    'tool_call_response',
    'tool_result',
    'tool-result',
    'tool-error',
    'tool-return',
    'toolResult',
    'function_call_output',
    'function_call_result',
    'custom_tool_call_output',
    'computer_call_output',
    'server_tool_call_response',
    'mcp_tool_result',
    'web_search_tool_result',
    'function_response',
    'builtin-tool-return',
  ]),
  ...readersOf(toMedia, [
    'image',
    'image_url',
    'image-url',
    'input_image',
    'audio',
    'input_audio',
    'video',
    'file',
    'input_file',
    'blob',
    'uri',
    'media',
    'document',
    'image_file',
  ]),
])

function readersOf(read: PartReader, types: readonly string[]): [string, PartReader][] {
  return types.map((type) => [type, read])
}
