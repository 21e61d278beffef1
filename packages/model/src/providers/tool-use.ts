import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import { parseJson, parseJsonText } from '../json/json-text.ts'

export type ToolCall<Type = 'tool-call'> = { type: Type; id?: string; name: string; arguments: unknown }

export type ToolResult<Type = 'tool-result'> = {
  type: Type
  id?: string
  name?: string
  result: unknown
  isError?: boolean
  /** The content blocks of a result that is more than one text. */
  blocks?: unknown[]
}

/** A tool call, however it is nested. */
export function readToolCall(raw: JsonObject): ToolCall {
  return readCall(raw, 'tool-call')
}

/** A call of a tool that runs at the provider. OpenAI names its own by type, and some have fields instead of arguments. */
export function readServerToolCall(raw: JsonObject): ToolCall<'server-tool-call'> {
  const part = readCall(raw, 'server-tool-call')
  part.name ||= firstText(raw.type)?.replace(/_call$/, '') ?? ''
  if (firstDefined(raw, argumentKeys) !== undefined) return part
  const { id: _id, call_id: _callId, type: _type, status: _status, name: _name, ...fields } = raw
  part.arguments = fields
  return part
}

const argumentKeys = ['arguments', 'args', 'input', 'parameters', 'action']

function readCall<Type extends string>(raw: JsonObject, type: Type): ToolCall<Type> {
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

/** A tool's result, without the wrapping of providers and frameworks. */
export function readToolResult(raw: JsonObject): ToolResult {
  return readResult(raw, 'tool-result')
}

export function readServerToolResult(raw: JsonObject): ToolResult<'server-tool-result'> {
  return readResult(raw, 'server-tool-result')
}

const resultKeys = ['response', 'result', 'output', 'content', 'value', 'data']

function readResult<Type extends string>(raw: JsonObject, type: Type): ToolResult<Type> {
  const given = firstDefined(raw, resultKeys)
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

/** What a tool returned: Gemini takes only objects, so any other value is put under `result` or `output`. */
export function unwrapFunctionResponse(value: unknown): unknown {
  if (!isRecord(value) || Object.keys(value).length !== 1) return value
  return value.result ?? value.output ?? value
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

function firstDefined(raw: JsonObject, keys: readonly string[]): unknown {
  for (const key of keys) if (raw[key] !== undefined) return raw[key]
  return undefined
}
