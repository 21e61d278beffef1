import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson, parseJsonText } from '../json/json-text.ts'
import type { Part } from '../session/message.ts'
import { hasMediaInside, readMedia } from './media.ts'

type ToolCall<Type> = { type: Type; id?: string; name: string; arguments: unknown }

/** `blocks`: the result where it came as a list of parts. */
type ToolResult<Type> = {
  type: Type
  id?: string
  name?: string
  result: unknown
  isError?: boolean
  blocks?: unknown[]
}

/** A part as a provider sends it. It tells refusals from text, and tools that ran at the provider from the agent's own. */
export type ProviderPart =
  | Exclude<Part, { type: 'tool-result' }>
  | { type: 'refusal'; text: string }
  | ToolCall<'server-tool-call'>
  | ToolResult<'tool-result'>
  | ToolResult<'server-tool-result'>

/** One part of a message in any shape that a provider or framework writes. */
export function readPart(raw: unknown): ProviderPart {
  if (typeof raw === 'string') return { type: 'text', text: raw }
  if (!isRecord(raw)) return { type: 'other', raw }
  const type = raw.type ?? raw.part_kind
  const read = typeof type === 'string' ? readerOf(type) : readUntyped
  return read(raw) ?? { type: 'other', raw }
}

/** The parts of a content: text, one part or a list of parts. Empty text is left out. */
export function readContent(content: unknown): ProviderPart[] {
  if (content === undefined || content === null) return []
  const parts: ProviderPart[] = []
  for (const item of Array.isArray(content) ? content : [content]) {
    const part = readPart(item)
    if (part.type !== 'text' || part.text !== '') parts.push(part)
  }
  return parts
}

/** One part as a session shows it. */
export function toPart(raw: unknown): Part {
  return simplifyPart(readPart(raw))
}

export function simplifyPart(part: ProviderPart): Part {
  switch (part.type) {
    case 'refusal':
      return { type: 'text', text: part.text }
    case 'server-tool-call':
      return { ...part, type: 'tool-call' }
    case 'tool-result':
    case 'server-tool-result': {
      if (part.type === 'tool-result' && part.blocks === undefined) return part
      const { blocks: _blocks, ...result } = part
      return { ...result, type: 'tool-result' }
    }
    default:
      return part
  }
}

/** A tool call, however it is nested. */
export function toToolCall(raw: JsonObject): ToolCall<'tool-call'> {
  return readToolCall(raw, 'tool-call')
}

export function toToolResult(raw: JsonObject): Part {
  return simplifyPart(readToolResult(raw, 'tool-result'))
}

const argumentKeys = ['arguments', 'args', 'input', 'parameters', 'action']

function readToolCall<Type extends string>(raw: JsonObject, type: Type): ToolCall<Type> {
  const call = isRecord(raw.function) ? raw.function : isRecord(raw.custom) ? raw.custom : raw
  const name = firstText(call.name, raw.name, raw.toolName, raw.tool_name) ?? ''
  const given = firstDefined(call, argumentKeys)
  const part: ToolCall<Type> = { type, name, arguments: given === '' ? {} : (parseJson(given) ?? {}) }
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

/** A tool that ran at the provider. OpenAI's are named by their type, some with fields of their own as arguments. */
function readServerToolCall(raw: JsonObject): ProviderPart {
  const part = readToolCall(raw, 'server-tool-call')
  part.name ||= firstText(raw.type)?.replace(/_call$/, '') ?? ''
  if (firstDefined(raw, argumentKeys) !== undefined) return part
  const { id: _id, call_id: _callId, type: _type, status: _status, name: _name, ...fields } = raw
  part.arguments = fields
  return part
}

/** What a tool gave back. */
export function readToolResult<Type extends string>(raw: JsonObject, type: Type): ToolResult<Type> {
  const given = firstDefined(raw, ['response', 'result', 'output', 'content', 'value', 'data'])
  const { result, isError } = unwrapToolOutput(given)
  const part: ToolResult<Type> = { type, result }
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
  if (result === given && Array.isArray(given)) part.blocks = given
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
  const isText = textTypes.has(block.type) || (isList && block.type === undefined)
  if (isText && typeof block.text === 'string') return parseJsonText(block.text)
  return isList && block.type === undefined && 'json' in block ? block.json : value
}

const textTypes: ReadonlySet<unknown> = new Set(['text', 'output_text', 'input_text'])

function readText(raw: JsonObject): ProviderPart | undefined {
  const text = raw.text ?? raw.content ?? raw.value
  if (typeof text === 'string') return { type: 'text', text }
  return isRecord(text) && typeof text.value === 'string' ? { type: 'text', text: text.value } : undefined
}

function readRefusal(raw: JsonObject): ProviderPart | undefined {
  const text = raw.refusal ?? raw.content ?? raw.text
  return typeof text === 'string' ? { type: 'refusal', text } : undefined
}

function readReasoning(raw: JsonObject): ProviderPart {
  const part: ProviderPart = { type: 'reasoning' }
  const text =
    firstText(raw.content, raw.text, raw.thinking, raw.reasoning) ??
    joinTexts(raw.summary) ??
    joinTexts(raw.content) ??
    joinTexts(raw.thinking)
  if (text !== undefined) part.text = text
  const signature = firstText(raw.signature, raw.encrypted_content)
  if (signature !== undefined) part.signature = signature
  // OpenAI's items always have a summary, empty when the reasoning is encrypted.
  const isEncrypted = text === undefined && Array.isArray(raw.summary)
  if (isEncrypted || raw.type === 'redacted_thinking') part.isRedacted = true
  return part
}

/** The text of a list of parts; undefined when there is none. */
export function joinTexts(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined
  const texts = list.map((item) => (isRecord(item) ? firstText(item.text) : firstText(item)))
  return firstText(texts.filter((text) => text !== undefined).join('\n'))
}

/** Gemini, Bedrock and Genkit name a part by its only key. */
function readUntyped(raw: JsonObject): ProviderPart | undefined {
  if (typeof raw.text === 'string') {
    return raw.thought === true ? { type: 'reasoning', text: raw.text } : { type: 'text', text: raw.text }
  }
  const call = raw.function_call ?? raw.functionCall ?? raw.toolUse ?? raw.toolRequest
  if (isRecord(call)) return toToolCall(call)
  const result = raw.function_response ?? raw.functionResponse ?? raw.toolResult ?? raw.toolResponse
  if (isRecord(result)) return readToolResult(result, 'tool-result')
  const thought = raw.reasoningContent
  if (isRecord(thought))
    return readReasoning(isRecord(thought.reasoningText) ? thought.reasoningText : thought)
  if (isRecord(raw.function)) return toToolCall(raw)
  return readCodeExecution(raw) ?? (hasMediaInside(raw) ? readMedia(raw) : undefined)
}

/** Code that ran at Google. */
function readCodeExecution(raw: JsonObject): ProviderPart | undefined {
  const name = 'code_execution'
  const code = raw.executableCode ?? raw.executable_code
  if (isRecord(code)) return { type: 'server-tool-call', name, arguments: code }
  const result = raw.codeExecutionResult ?? raw.code_execution_result
  return isRecord(result) ? { type: 'server-tool-result', name, result } : undefined
}

function firstDefined(raw: JsonObject, keys: readonly string[]): unknown {
  for (const key of keys) if (raw[key] !== undefined) return raw[key]
  return undefined
}

type PartReader = (raw: JsonObject) => ProviderPart | undefined

const readersByTypes: [PartReader, string[]][] = [
  [
    readText,
    ['text', 'input_text', 'output_text', 'summary_text', 'system-prompt', 'user-prompt', 'retry-prompt'],
  ],
  [readRefusal, ['refusal']],
  [
    readReasoning,
    ['reasoning', 'thinking', 'redacted_thinking', 'reasoning_content', 'reasoning_text', 'thought'],
  ],
  [
    toToolCall,
    [
      'tool_call',
      'tool-call',
      'tool_use',
      'toolCall',
      'function',
      'function_call',
      'custom_tool_call',
      'builtin-tool-call',
    ],
  ],
  [readServerToolCall, ['server_tool_use', 'mcp_tool_use']],
  [
    (raw) => readToolResult(raw, 'tool-result'),
    [
      'tool_call_response',
      'tool_result',
      'tool-result',
      'tool-error',
      'tool-return',
      'toolResult',
      'function_call_result',
      'function_response',
      'builtin-tool-return',
    ],
  ],
  [readServerToolResult, ['server_tool_call_response']],
  [
    readMedia,
    [
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
    ],
  ],
]

const readers = new Map(readersByTypes.flatMap(([read, types]) => types.map((type) => [type, read])))

/** Providers add tools of their own faster than a table can: how the type ends tells what it is. */
function readerOf(type: string): PartReader {
  const known = readers.get(type)
  if (known !== undefined) return known
  if (type.endsWith('_call')) return readServerToolCall
  if (type.endsWith('_output')) return (raw) => readToolResult(raw, 'tool-result')
  return type.endsWith('_tool_result') ? readServerToolResult : readUntyped
}

function readServerToolResult(raw: JsonObject): ProviderPart {
  return readToolResult(raw, 'server-tool-result')
}
