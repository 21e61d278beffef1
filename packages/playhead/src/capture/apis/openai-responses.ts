import { parseArguments, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import type { Answer, ChatMessage, MessagePart, ModelApi, Question } from './model-api.ts'
import { answerFacts } from './openai-answer.ts'
import {
  functionCallPart,
  partsOfContent,
  reasoningPart,
  textOfParts,
  toolResultPart,
} from './openai-parts.ts'
import { ResponseAssembler } from './openai-responses-stream.ts'
import { attributesFrom, defineTool, outputType } from './request-attributes.ts'

/** OpenAI's responses. */
export const openAiResponses: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new ResponseAssembler(),
}

const parameterNames = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  max_output_tokens: 'gen_ai.request.max_tokens',
  stream: 'gen_ai.request.stream',
  reasoning: 'gen_ai.request.reasoning',
  text: 'gen_ai.request.response_format',
  tool_choice: 'gen_ai.request.tool_choice',
  parallel_tool_calls: 'gen_ai.request.parallel_tool_calls',
  max_tool_calls: 'gen_ai.request.max_tool_calls',
  previous_response_id: 'gen_ai.request.previous_response_id',
  truncation: 'gen_ai.request.truncation',
  background: 'gen_ai.request.background',
  service_tier: 'openai.request.service_tier',
}

function readQuestion(body: JsonObject): Question {
  const model = toText(body.model)
  const system = partsOfContent(body.instructions)
  const conversation = toText(body.conversation) ?? toText(toObject(body.conversation).id)
  const format = toObject(toObject(body.text).format)
  const tools = toObjects(body.tools).map((tool) => defineTool(tool, toText(tool.type)))
  return {
    operation: 'chat',
    ...(model !== undefined && { model }),
    isStream: body.stream === true,
    ...(system.length > 0 && { system }),
    messages: messagesOfItems(body.input),
    ...(tools.length > 0 && { tools }),
    attributes: {
      ...attributesFrom({ ...body, text: format.type === undefined ? undefined : format }, parameterNames),
      ...outputType(format.type),
      ...(conversation !== undefined && { 'gen_ai.conversation.id': conversation }),
    },
  }
}

function messagesOfItems(items: unknown): ChatMessage[] {
  if (typeof items === 'string') return [{ role: 'user', parts: partsOfContent(items) }]
  return toObjects(items).map(messageOfItem)
}

function messageOfItem(item: JsonObject): ChatMessage {
  const role = toText(item.role)
  if (role !== undefined)
    return { role: role === 'developer' ? 'system' : role, parts: partsOfContent(item.content) }
  const type = toText(item.type) ?? ''
  if (type.endsWith('_output')) return { role: 'tool', parts: [toolResultPart(item.call_id, item.output)] }
  return { role: 'assistant', parts: [itemPart(type, item)] }
}

function itemPart(type: string, item: JsonObject): MessagePart {
  if (type === 'reasoning') {
    const text = textOfParts(item.summary) || textOfParts(item.content)
    return reasoningPart(text)[0] ?? { type: 'redacted_thinking' }
  }
  if (type === 'function_call' || type === 'custom_tool_call') return functionCallPart(item)
  if (!type.endsWith('_call')) return { type: 'other', value: item }
  const { id, type: _type, status: _status, name, arguments: given, ...rest } = item
  const callId = toText(id)
  // Tools that run at the provider: web search, file search, code, images, remote MCP.
  return {
    type: 'server_tool_call',
    ...(callId !== undefined && { id: callId }),
    name: toText(name) ?? type.slice(0, -'_call'.length),
    arguments: given === undefined ? (rest.action ?? rest) : parseArguments(given),
  }
}

function readAnswer(body: JsonObject): Answer {
  const parts: MessagePart[] = []
  for (const item of toObjects(body.output)) {
    if (item.type === 'message') parts.push(...partsOfContent(item.content))
    else parts.push(...messageOfItem(item).parts)
  }
  const reason = finishReason(body, parts)
  return {
    ...answerFacts(body),
    messages: parts.length === 0 ? [] : [{ role: 'assistant', parts, finish_reason: reason ?? 'error' }],
    finishReasons: reason === undefined ? [] : [reason],
  }
}

/** Responses have a status where others have a reason to stop. */
function finishReason(body: JsonObject, parts: readonly MessagePart[]): string | undefined {
  if (body.status === 'incomplete') return toText(toObject(body.incomplete_details).reason) ?? 'length'
  if (body.status !== 'completed') return toText(body.status === 'in_progress' ? undefined : body.status)
  return parts.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'stop'
}
