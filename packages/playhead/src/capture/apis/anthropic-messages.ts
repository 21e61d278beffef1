import type { Attributes } from '@opentelemetry/api'
import {
  isObject,
  parseArguments,
  toNumber,
  toObject,
  toObjects,
  toText,
  type JsonObject,
} from '../json-value.ts'
import { MessageAssembler } from './anthropic-stream.ts'
import { mediaAt, mediaInFile, mediaOf, modalityOf } from './media-part.ts'
import type { Answer, ChatMessage, MessagePart, ModelApi, Question, TokenUsage } from './model-api.ts'
import { compact, providerError } from './openai-usage.ts'
import { attributesFrom, defineTool, outputType } from './request-attributes.ts'

/** Anthropic's messages, at Anthropic, Bedrock and Vertex. */
export const anthropicMessages: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new MessageAssembler(),
}

const parameterNames = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  top_k: 'gen_ai.request.top_k',
  max_tokens: 'gen_ai.request.max_tokens',
  stop_sequences: 'gen_ai.request.stop_sequences',
  stream: 'gen_ai.request.stream',
  tool_choice: 'gen_ai.request.tool_choice',
  thinking: 'gen_ai.request.thinking',
  service_tier: 'gen_ai.request.service_tier',
}

/** Bedrock and Vertex name the model in the path, and whether it streams too. */
const modelInPath = /\/(?:model|models)\/([^/:]+(?::\d+)?)(?:\/invoke|:(?:stream)?[rR]awPredict)/
const streamInPath = /\/invoke-with-response-stream$|:streamRawPredict$/

function readQuestion(body: JsonObject, url: URL): Question {
  const inPath = modelInPath.exec(decodeURIComponent(url.pathname))?.[1]
  const model = toText(body.model) ?? inPath
  const isStream = body.stream === true || streamInPath.test(url.pathname)
  const system = partsOfBlocks(body.system)
  const tools = toObjects(body.tools).map((tool) => defineTool(tool, toText(tool.type)))
  return {
    operation: 'chat',
    ...(model !== undefined && { model }),
    isStream,
    ...(system.length > 0 && { system }),
    messages: toObjects(body.messages).flatMap(messagesOf),
    ...(tools.length > 0 && { tools }),
    attributes: {
      ...attributesFrom({ ...body, stream: isStream || undefined }, parameterNames),
      ...formatOf(body),
    },
  }
}

function formatOf(body: JsonObject): Attributes {
  const format = body.output_format ?? toObject(body.output_config).format
  if (!isObject(format)) return {}
  return { 'gen_ai.request.response_format': JSON.stringify(format), ...outputType(format.type) }
}

/** Anthropic's tools answer in the user's name; here they have a role of their own. */
function messagesOf(raw: JsonObject): ChatMessage[] {
  const role = toText(raw.role) ?? 'user'
  const parts = partsOfBlocks(raw.content)
  const results = parts.filter(({ type }) => type === 'tool_call_response')
  const others = parts.filter(({ type }) => type !== 'tool_call_response')
  const messages: ChatMessage[] = []
  if (results.length > 0) messages.push({ role: 'tool', parts: results })
  if (others.length > 0 || results.length === 0) messages.push({ role, parts: others })
  return messages
}

function partsOfBlocks(content: unknown): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }]
  return toObjects(content).map(partOf)
}

function partOf(block: JsonObject): MessagePart {
  const type = toText(block.type) ?? ''
  if (type === 'text') return { type: 'text', content: toText(block.text) ?? '' }
  if (type === 'thinking') return { type: 'reasoning', content: toText(block.thinking) ?? '' }
  if (type === 'redacted_thinking') return { type: 'redacted_thinking' }
  if (type === 'tool_use') return callPart(block, 'tool_call')
  if (type === 'server_tool_use' || type === 'mcp_tool_use') return callPart(block, 'server_tool_call')
  if (type === 'tool_result') return resultPart(block, 'tool_call_response')
  if (type.endsWith('_tool_result')) return resultPart(block, 'server_tool_call_response')
  if (type === 'image' || type === 'document') return mediaPart(type, toObject(block.source), block)
  return { type: 'other', value: block }
}

function callPart(block: JsonObject, type: 'tool_call' | 'server_tool_call'): MessagePart {
  const id = toText(block.id)
  const name = toText(block.name) ?? ''
  return { type, ...(id !== undefined && { id }), name, arguments: parseArguments(block.input) }
}

function resultPart(
  block: JsonObject,
  type: 'tool_call_response' | 'server_tool_call_response',
): MessagePart {
  const id = toText(block.tool_use_id)
  return {
    type,
    ...(id !== undefined && { id }),
    response: resultOf(block.content),
    ...(block.is_error === true && { is_error: true }),
  }
}

function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content === undefined ? '' : parseArguments(content)
  const parts = partsOfBlocks(content)
  const only = parts.length === 1 ? parts[0] : undefined
  return only?.type === 'text' ? parseArguments(only.content) : parts
}

function mediaPart(type: string, source: JsonObject, block: JsonObject): MessagePart {
  const mimeType = toText(source.media_type)
  const modality = type === 'image' ? 'image' : modalityOf(mimeType)
  const url = toText(source.url)
  if (url !== undefined) return mediaAt(url, { modality })
  const fileId = toText(source.file_id)
  if (fileId !== undefined) return mediaInFile(fileId, { modality })
  const data = toText(source.data)
  if (data === undefined) return { type: 'other', value: block }
  return source.type === 'text' ? { type: 'text', content: data } : mediaOf(data, { modality, mimeType })
}

function readAnswer(body: JsonObject): Answer {
  const parts = partsOfBlocks(body.content)
  const reason = toText(body.stop_reason)
  const usage = usageOf(body.usage)
  const id = toText(body.id)
  const model = toText(body.model)
  const error = body.error === undefined || body.error === null ? undefined : providerError(body)
  const finish = reason === undefined ? {} : { finish_reason: reason }
  return {
    ...(id !== undefined && { id }),
    ...(model !== undefined && { model }),
    messages: parts.length === 0 ? [] : [{ role: 'assistant', parts, ...finish }],
    finishReasons: reason === undefined ? [] : [reason],
    ...(usage !== undefined && { usage }),
    attributes: attributesFrom(toObject(body.usage), { service_tier: 'gen_ai.response.service_tier' }),
    ...(error !== undefined && { error }),
  }
}

/** Anthropic counts what came from the cache, and what went there, beside the input. */
function usageOf(raw: unknown): TokenUsage | undefined {
  if (!isObject(raw)) return undefined
  const fresh = toNumber(raw.input_tokens)
  const cacheRead = toNumber(raw.cache_read_input_tokens) ?? 0
  const cacheWrite = toNumber(raw.cache_creation_input_tokens) ?? 0
  const written = toObject(raw.cache_creation)
  return compact({
    input: fresh === undefined ? undefined : fresh + cacheRead + cacheWrite,
    output: toNumber(raw.output_tokens),
    cacheRead,
    cacheWrite,
    cacheWrite5m: toNumber(written.ephemeral_5m_input_tokens),
    cacheWrite1h: toNumber(written.ephemeral_1h_input_tokens),
    reasoning: toNumber(toObject(raw.output_tokens_details).thinking_tokens),
  })
}
