import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import type { Part } from '../session/message.ts'
import { hasMediaInside, readMedia } from './media.ts'
import {
  readServerToolCall,
  readServerToolResult,
  readToolCall,
  readToolResult,
  type ToolCall,
  type ToolResult,
} from './tool-use.ts'

/** A part as a provider sends it. Unlike a `Part`, it keeps the blocks of a tool's result. */
export type ProviderPart =
  | Exclude<Part, { type: 'tool-result' }>
  | ToolCall<'server-tool-call'>
  | ToolResult
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
    case 'server-tool-call':
      return { ...part, type: 'tool-call', isServerSide: true }
    case 'tool-result': {
      if (part.blocks === undefined) return part
      const { blocks: _blocks, ...result } = part
      return result
    }
    case 'server-tool-result': {
      const { blocks: _blocks, ...result } = part
      return { ...result, type: 'tool-result', isServerSide: true }
    }
    default:
      return part
  }
}

/** A tool's result as a session shows it. */
export function toToolResult(raw: JsonObject): Part {
  return simplifyPart(readToolResult(raw))
}

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
  // OpenAI always sends a summary; it is empty if the reasoning is encrypted.
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
  if (isRecord(call)) return readToolCall(call)
  const result = raw.function_response ?? raw.functionResponse ?? raw.toolResult ?? raw.toolResponse
  if (isRecord(result)) return readToolResult(result)
  const thought = raw.reasoningContent
  if (isRecord(thought))
    return readReasoning(isRecord(thought.reasoningText) ? thought.reasoningText : thought)
  if (isRecord(raw.function)) return readToolCall(raw)
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
    readToolCall,
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
    readToolResult,
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

/** Providers keep adding server tools; the suffix of the type tells what a part is. */
function readerOf(type: string): PartReader {
  const known = readers.get(type)
  if (known !== undefined) return known
  if (type.endsWith('_call')) return readServerToolCall
  if (type.endsWith('_output')) return readToolResult
  return type.endsWith('_tool_result') ? readServerToolResult : readUntyped
}
