import { toList, toNumber, toObject, toObjects, toText, type JsonObject } from '../json-value.ts'
import { ChatAssembler } from './openai-chat-stream.ts'
import type { Answer, ChatMessage, MessagePart, ModelApi, Question } from './model-api.ts'
import { answerFacts } from './openai-answer.ts'
import {
  functionCallPart,
  partsOfContent,
  reasoningPart,
  refusalPart,
  textOfParts,
  toolResultPart,
} from './openai-parts.ts'
import { mediaOf } from './media-part.ts'
import { attributesFrom, defineTool, outputType } from './request-attributes.ts'

/** Chat completions, as OpenAI and everybody who is compatible to it speaks them. */
export const openAiChat: ModelApi = {
  readQuestion,
  readAnswer,
  createAssembler: () => new ChatAssembler(),
}

const parameterNames = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  top_k: 'gen_ai.request.top_k',
  max_tokens: 'gen_ai.request.max_tokens',
  max_completion_tokens: 'gen_ai.request.max_tokens',
  frequency_penalty: 'gen_ai.request.frequency_penalty',
  presence_penalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  n: 'gen_ai.request.choice.count',
  stop: 'gen_ai.request.stop_sequences',
  stream: 'gen_ai.request.stream',
  reasoning_effort: 'gen_ai.request.reasoning_effort',
  verbosity: 'gen_ai.request.verbosity',
  response_format: 'gen_ai.request.response_format',
  tool_choice: 'gen_ai.request.tool_choice',
  parallel_tool_calls: 'gen_ai.request.parallel_tool_calls',
  service_tier: 'openai.request.service_tier',
}

export function chatParameters(body: JsonObject) {
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop
  return {
    ...attributesFrom({ ...body, stop }, parameterNames),
    ...outputType(toObject(body.response_format).type),
  }
}

/** Azure names the model in the path: /openai/deployments/gpt-4o/chat/completions. */
const deploymentInPath = /\/deployments\/([^/]+)\//

function readQuestion(body: JsonObject, { pathname }: URL): Question {
  const model = toText(body.model) ?? deploymentInPath.exec(pathname)?.[1]
  const tools = toList(body.tools ?? body.functions).map((item) => {
    const raw = toObject(item)
    return defineTool(toObject(raw.function ?? raw.custom ?? raw), toText(raw.type))
  })
  return {
    operation: 'chat',
    ...(model !== undefined && { model }),
    isStream: body.stream === true,
    messages: toObjects(body.messages).map(chatMessage),
    ...(tools.length > 0 && { tools }),
    attributes: chatParameters(body),
  }
}

export function chatMessage(raw: JsonObject): ChatMessage {
  const role = raw.role === 'developer' ? 'system' : (toText(raw.role) ?? 'user')
  const name = toText(raw.name)
  const isResult = role === 'tool' || role === 'function'
  const parts = isResult
    ? [toolResultPart(raw.tool_call_id ?? raw.tool_name, raw.content)]
    : messageParts(raw)
  return { role: isResult ? 'tool' : role, ...(name !== undefined && { name }), parts }
}

function messageParts(raw: JsonObject): MessagePart[] {
  const parts = [
    ...reasoningPart(raw.reasoning_content ?? raw.reasoning ?? raw.thinking),
    ...partsOfContent(raw.content),
    ...refusalPart(raw.refusal),
    ...toObjects(raw.tool_calls).map(functionCallPart),
  ]
  if (raw.function_call !== undefined && raw.function_call !== null)
    parts.push(functionCallPart(toObject(raw.function_call)))
  return [...parts, ...audioParts(toObject(raw.audio)), ...imageParts(raw.images)]
}

/** A spoken answer: what was said, and its sound. */
function audioParts({ transcript, data }: JsonObject): MessagePart[] {
  const sound = toText(data)
  const parts = partsOfContent(textOfParts(transcript))
  if (sound !== undefined) parts.push(mediaOf(sound, { modality: 'audio' }))
  return parts
}

/** Ollama's images are bytes beside the text. */
function imageParts(images: unknown): MessagePart[] {
  return toList(images).flatMap((image) =>
    typeof image === 'string' ? [mediaOf(image, { modality: 'image' })] : partsOfContent([image]),
  )
}

function readAnswer(body: JsonObject): Answer {
  const choices = toObjects(body.choices).sort(
    (left, right) => (toNumber(left.index) ?? 0) - (toNumber(right.index) ?? 0),
  )
  const messages = choices.map((choice): ChatMessage => {
    const reason = toText(choice.finish_reason)
    const message = chatMessage({ role: 'assistant', ...toObject(choice.message) })
    return reason === undefined ? message : { ...message, finish_reason: reason }
  })
  return {
    ...answerFacts(body),
    messages: messages.filter(({ parts, finish_reason: reason }) => parts.length > 0 || reason !== undefined),
    finishReasons: messages.flatMap(({ finish_reason: reason }) => reason ?? []),
  }
}
