import { isRecord, textOf, toNumber, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { readMessage, separateToolResults, type ProviderMessage } from './messages.ts'
import {
  attributesFrom,
  outputType,
  requestAttributes,
  responseFacts,
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type RequestAttributes,
  type StreamAssembler,
  type StreamDelta,
} from './model-api.ts'
import { joinTexts } from './parts.ts'
import { readTools } from './tools.ts'
import { readUsage } from './usage.ts'

/** Chat completions of OpenAI and of every host that is compatible with it. */
export const openAiChat: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new ChatAssembler(),
}

const parameters = {
  ...requestAttributes(
    'temperature',
    'top_p',
    'top_k',
    'max_tokens',
    'frequency_penalty',
    'presence_penalty',
  ),
  ...requestAttributes('seed', 'stream', 'reasoning_effort', 'verbosity', 'response_format', 'tool_choice'),
  ...requestAttributes('parallel_tool_calls'),
  max_completion_tokens: 'gen_ai.request.max_tokens',
  n: 'gen_ai.request.choice.count',
  stop: 'gen_ai.request.stop_sequences',
  service_tier: 'openai.request.service_tier',
}

export function chatParameters(body: JsonObject): RequestAttributes {
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop
  return {
    ...attributesFrom({ ...body, stop }, parameters),
    ...outputType(toObject(body.response_format).type),
  }
}

/** Azure names the model in the path: /openai/deployments/gpt-4o/chat/completions. */
const deploymentInPath = /\/deployments\/([^/]+)\//

function readRequest(body: JsonObject, { pathname }: URL): ModelRequest {
  return {
    operation: 'chat',
    ...textField('model', textOf(body.model) || deploymentInPath.exec(pathname)?.[1]),
    isStream: body.stream === true,
    messages: separateToolResults(toObjects(body.messages).map(readChatMessage)),
    tools: readTools(body.tools ?? body.functions),
    attributes: chatParameters(body),
  }
}

export function readChatMessage(raw: JsonObject): ProviderMessage {
  const message = readMessage(raw, 'user') ?? { role: 'user', parts: [] }
  for (const part of message.parts) {
    if (part.type !== 'tool-result') continue
    // The name belongs to the message. Ollama has only the tool's name to refer to a call.
    delete part.name
    Object.assign(part, textField('id', part.id ?? raw.tool_name))
  }
  return message
}

function readResponse(body: JsonObject): ModelResponse {
  const choices = toObjects(body.choices).sort(
    (left, right) => (toNumber(left.index) ?? 0) - (toNumber(right.index) ?? 0),
  )
  const messages = choices.map((choice) => readMessage(choice, 'assistant')!)
  return {
    ...openAiFacts(body),
    messages: messages.filter(({ parts, finishReason }) => parts.length > 0 || finishReason !== undefined),
    finishReasons: messages.flatMap(({ finishReason }) => finishReason ?? []),
  }
}

/** The fields that responses of OpenAI's APIs share, besides the messages. */
export function openAiFacts(body: JsonObject): Omit<ModelResponse, 'messages' | 'finishReasons'> {
  return {
    ...responseFacts(body, readUsage(body.usage)),
    attributes: attributesFrom(body, {
      service_tier: 'openai.response.service_tier',
      system_fingerprint: 'openai.response.system_fingerprint',
    }),
  }
}

type Choice = { index: number; message: JsonObject; calls: Map<number, JsonObject>; finish_reason?: string }

class ChatAssembler implements StreamAssembler {
  readonly #fields: JsonObject = {}
  readonly #choices = new Map<number, Choice>()

  add(event: JsonObject): StreamDelta {
    for (const field of ['id', 'model', 'usage', 'service_tier', 'system_fingerprint', 'error']) {
      if (event[field] !== undefined && event[field] !== null && event[field] !== '')
        this.#fields[field] = event[field]
    }
    const added: StreamDelta = { isToken: false, isLast: this.#fields.error !== undefined }
    for (const raw of toObjects(event.choices)) this.#addChoice(raw, added)
    return added
  }

  response(): JsonObject {
    const choices = [...this.#choices.values()].map(({ calls, message, ...choice }) => ({
      ...choice,
      message: calls.size === 0 ? message : { ...message, tool_calls: [...calls.values()] },
    }))
    return { ...this.#fields, choices }
  }

  #addChoice(raw: JsonObject, added: StreamDelta): void {
    const index = toNumber(raw.index) ?? 0
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = { index, message: {}, calls: new Map() }
      this.#choices.set(index, choice)
    }
    const reason = textOf(raw.finish_reason)
    if (reason !== '') choice.finish_reason = reason
    const delta = toObject(raw.delta)
    const { visible, isHidden } = addText(choice.message, delta)
    for (const call of toObjects(delta.tool_calls)) addCall(choice, call)
    if (isRecord(delta.function_call)) addCall(choice, { function: delta.function_call })
    const isCall = delta.tool_calls !== undefined || delta.function_call !== undefined
    if (index === 0 && visible !== '') added.text = (added.text ?? '') + visible
    if (visible !== '' || isHidden || isCall) added.isToken = true
  }
}

function addText(message: JsonObject, delta: JsonObject): { visible: string; isHidden: boolean } {
  const content = contentOf(delta.content)
  const refusal = textOf(delta.refusal)
  const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning) || content.thought
  append(message, 'content', content.text)
  append(message, 'refusal', refusal)
  append(message, 'reasoning_content', thought)
  const audio = toObject(delta.audio)
  if (delta.audio !== undefined) {
    const sound = toObject(message.audio)
    append(sound, 'transcript', textOf(audio.transcript))
    append(sound, 'data', textOf(audio.data))
    message.audio = sound
  }
  if (message.role === undefined && delta.role !== undefined) message.role = delta.role
  return {
    visible: content.text + refusal + textOf(audio.transcript),
    isHidden: thought !== '' || delta.audio !== undefined,
  }
}

/** Mistral streams lists of parts, some of them thinking. */
function contentOf(content: unknown): { text: string; thought: string } {
  if (!Array.isArray(content)) return { text: textOf(content), thought: '' }
  let text = ''
  let thought = ''
  for (const part of toObjects(content)) {
    if (part.type === 'thinking') thought += joinTexts(part.thinking) ?? textOf(part.thinking)
    else text += textOf(part.text)
  }
  return { text, thought }
}

/** Hosts that leave the index out send whole calls, one after the other. */
function addCall({ calls }: Choice, raw: JsonObject): void {
  const given = toNumber(raw.index)
  const isNew = given === undefined && raw.id !== undefined
  const index = given ?? (isNew ? calls.size : Math.max(0, calls.size - 1))
  const call = calls.get(index) ?? { function: { name: '', arguments: '' } }
  const target = toObject(call.function)
  const delta = toObject(raw.function)
  if (raw.id !== undefined) call.id = raw.id
  if (isRecord(raw.custom)) {
    calls.set(index, { id: call.id, type: 'custom', custom: raw.custom })
    return
  }
  append(target, 'name', textOf(delta.name))
  if (typeof delta.arguments === 'string') append(target, 'arguments', delta.arguments)
  else if (delta.arguments !== undefined && delta.arguments !== null) target.arguments = delta.arguments
  calls.set(index, call)
}

/** Appends to a text field. */
export function append(target: JsonObject, field: string, text: string): void {
  if (text !== '') target[field] = textOf(target[field]) + text
}
