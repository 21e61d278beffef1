import type { Message } from '../session/message.ts'
import { firstText, isRecord, type JsonObject } from '../json/attribute-value.ts'
import { textMessage, toMessage, toMessages } from './messages.ts'
import { toPart } from './parts.ts'
import { assembleEvents } from './stream-pieces.ts'

/** The messages of a request to any API: a whole body, a list of messages, or text. */
export function messagesOfRequest(request: unknown): Message[] | undefined {
  if (!isRecord(request)) return atLeastOne(toMessages(request, 'user'))
  if (request.role !== undefined || request.lc !== undefined) return atLeastOne(toMessages(request, 'user'))
  const config = isRecord(request.config) ? request.config : undefined
  const system = systemOf(
    request.system ??
      request.instructions ??
      request.system_instruction ??
      request.systemInstruction ??
      config?.system_instruction,
  )
  const content =
    request.messages ??
    request.input ??
    request.contents ??
    request.prompt ??
    request.prompts ??
    request.inputs
  const messages = isRecord(content) ? messagesOfNested(content) : toMessages(content, 'user')
  return atLeastOne(system === undefined ? messages : [system, ...messages])
}

/** The messages of a response from any API: a whole body, one message, or text. */
export function messagesOfResponse(given: unknown): Message[] | undefined {
  const response = assembleEvents(given)
  if (Array.isArray(response)) return atLeastOne(messagesOfList(response))
  if (!isRecord(response)) return atLeastOne(toMessages(response, 'assistant'))
  if (response.lc !== undefined) return atLeastOne(toMessages(response, 'assistant'))
  const list = response.choices ?? response.candidates ?? response.generations ?? response.messages
  if (Array.isArray(list)) return atLeastOne(list.flatMap(messagesOfChoice))
  const whole = assembleEvents(response.output)
  if (whole !== response.output) return messagesOfResponse(whole)
  if (Array.isArray(response.output)) return atLeastOne(oneReply(toMessages(response.output, 'assistant')))
  if (isRecord(response.output)) return messagesOfResponse(response.output)
  if (isRecord(response.message)) return atLeastOne(toMessages(response, 'assistant'))
  if (response.content !== undefined || response.role !== undefined)
    return atLeastOne(toMessages({ role: 'assistant', ...response }, 'assistant'))
  if (response.text !== undefined || Array.isArray(response.toolCalls)) return messagesOfText(response)
  return atLeastOne(
    toMessages(
      firstText(response.output_text, response.completion, response.output, response.response),
      'assistant',
    ),
  )
}

/** The items of a response are one reply: reasoning, text and tool calls. */
function oneReply(items: Message[]): Message[] {
  const isReply = items.every(({ role, finishReason }) => role === 'assistant' && finishReason === undefined)
  return isReply && items.length > 1
    ? [{ role: 'assistant', parts: items.flatMap(({ parts }) => parts) }]
    : items
}

/** The provider's response id, wherever the instrumentation put it. */
export function responseIdOf(response: unknown): string | undefined {
  if (!isRecord(response)) return undefined
  const id = firstText(response.id, response.responseId, response.response_id)
  const message = generatedMessage(response)
  const metadata = isRecord(message?.response_metadata) ? message.response_metadata : undefined
  const given = firstText(metadata?.id, metadata?.response_id)
  return [id, given, firstText(message?.id)].find(
    (candidate) => candidate !== undefined && !/^(?:lc_)?run-/.test(candidate),
  )
}

/** The usage object of a response. */
export function usageOf(response: unknown): JsonObject | undefined {
  if (!isRecord(response)) return undefined
  const found = [
    response.usage,
    response.usageMetadata,
    response.usage_metadata,
    generatedMessage(response)?.usage_metadata,
    isRecord(response.llmOutput) ? response.llmOutput.tokenUsage : undefined,
    isRecord(response.llm_output) ? response.llm_output.token_usage : undefined,
  ]
  return found.find(isRecord)
}

/** The name of the model in a request or response. */
export function modelOf(payload: unknown): string | undefined {
  if (!isRecord(payload)) return undefined
  const metadata = generatedMessage(payload)?.response_metadata
  const inside = isRecord(metadata) ? firstText(metadata.model_name, metadata.model) : undefined
  return inside ?? firstText(payload.model, payload.modelVersion, payload.model_version)
}

function atLeastOne(messages: Message[]): Message[] | undefined {
  return messages.length === 0 ? undefined : messages
}

function systemOf(given: unknown): Message | undefined {
  if (given === undefined || given === null) return undefined
  if (isRecord(given) && Array.isArray(given.parts)) {
    const message = toMessage(given, 'system')
    return message === undefined ? undefined : { ...message, role: 'system' }
  }
  return textMessage('system', given)
}

/** `{ input: { messages: […] } }`, one level deep. */
function messagesOfNested(content: JsonObject): Message[] {
  return toMessages(content.messages ?? content, 'user')
}

function messagesOfList(list: unknown[]): Message[] {
  const isMessage = (item: unknown) =>
    isRecord(item) &&
    (item.role !== undefined ||
      item.lc !== undefined ||
      item.message !== undefined ||
      item.parts !== undefined)
  if (list.some((item) => Array.isArray(item) || isMessage(item))) return list.flatMap(messagesOfChoice)
  const isPart = list.some((item) => isRecord(item) && toPart(item).type !== 'other')
  return isPart ? [{ role: 'assistant', parts: list.map(toPart) }] : toMessages(list, 'assistant')
}

/** OpenAI's choice, Gemini's candidate or LangChain's generation. */
function messagesOfChoice(choice: unknown): Message[] {
  if (Array.isArray(choice)) return choice.slice(0, 1).flatMap(messagesOfChoice)
  const messages = toMessages(choice, 'assistant')
  const info = isRecord(choice) ? (choice.generationInfo ?? choice.generation_info) : undefined
  const reason = isRecord(info) ? firstText(info.finish_reason) : undefined
  if (reason !== undefined && messages[0] !== undefined) messages[0].finishReason ??= reason
  return messages
}

/** `{ text, toolCalls }` as Vercel and Mastra write it. */
function messagesOfText(response: JsonObject): Message[] | undefined {
  const { text, toolCalls, reasoningText } = response
  const content = typeof text === 'string' ? text : undefined
  return atLeastOne(
    toMessages(
      {
        role: 'assistant',
        content,
        toolCalls,
        reasoning: reasoningText,
        finish_reason: response.finishReason,
      },
      'assistant',
    ),
  )
}

/** LangChain nests the message in a list of lists of generations. */
function generatedMessage(response: JsonObject): JsonObject | undefined {
  const list = response.generations
  if (!Array.isArray(list)) return undefined
  const first: unknown = Array.isArray(list[0]) ? list[0][0] : list[0]
  const message = isRecord(first) ? first.message : undefined
  if (!isRecord(message)) return undefined
  return isRecord(message.kwargs) ? message.kwargs : message
}
