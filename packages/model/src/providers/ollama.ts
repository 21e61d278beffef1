import { textOf, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { readMessage } from './messages.ts'
import {
  attributesFrom,
  createWholeAssembler,
  outputType,
  requestAttributes,
  responseFacts,
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type StreamAssembler,
  type StreamDelta,
} from './model-api.ts'
import { append, readChatMessage } from './openai-chat.ts'
import { embeddedTexts } from './openai-embeddings.ts'
import { readContent } from './parts.ts'
import { readTools } from './tools.ts'
import { readUsage } from './usage.ts'

/** Ollama's own chat and generate. */
export const ollamaChat: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new OllamaAssembler(),
}

/** Ollama's own embeddings. */
export const ollamaEmbed: ModelApi = {
  readRequest: (body) => ({
    operation: 'embeddings',
    ...textField('model', body.model),
    isStream: false,
    messages: embeddedTexts(body.input ?? body.prompt),
    attributes: {},
  }),
  readResponse: (body) => ({ ...readResponse(body), messages: [] }),
  createAssembler: createWholeAssembler,
}

const options = {
  ...requestAttributes('temperature', 'top_p', 'top_k', 'seed', 'frequency_penalty', 'presence_penalty'),
  num_predict: 'gen_ai.request.max_tokens',
  stop: 'gen_ai.request.stop_sequences',
}

function readRequest(body: JsonObject): ModelRequest {
  const isGenerate = typeof body.prompt === 'string' && body.prompt !== ''
  const prompt = { role: 'user', content: body.prompt, images: body.images }
  const isStream = body.stream !== false
  return {
    operation: isGenerate ? 'text_completion' : 'chat',
    ...textField('model', body.model),
    isStream,
    system: readContent(body.system),
    messages: (isGenerate ? [prompt] : toObjects(body.messages)).map(readChatMessage),
    tools: readTools(body.tools),
    attributes: {
      ...attributesFrom(toObject(body.options), options),
      ...attributesFrom(body, { format: 'gen_ai.request.response_format', think: 'gen_ai.request.thinking' }),
      ...outputType(body.format === undefined ? undefined : 'json'),
      'gen_ai.request.stream': isStream,
    },
  }
}

function readResponse(body: JsonObject): ModelResponse {
  const { response, thinking, message, done_reason: reason } = body
  const answer = readMessage(
    { message: { content: response, thinking, ...toObject(message) }, finish_reason: reason },
    'assistant',
  )!
  return {
    ...responseFacts(body, readUsage(body)),
    messages: answer.parts.length === 0 ? [] : [answer],
    finishReasons: Object.values(textField('reason', reason)),
  }
}

class OllamaAssembler implements StreamAssembler {
  #fields: JsonObject = {}
  readonly #message: JsonObject = {}
  readonly #calls: JsonObject[] = []
  #isGenerate = false

  add(event: JsonObject): StreamDelta {
    const { message, response, thinking, ...fields } = event
    this.#fields = { ...this.#fields, ...fields }
    if (typeof response === 'string') this.#isGenerate = true
    const part = toObject(message)
    const text = textOf(part.content) || textOf(response)
    const thought = textOf(part.thinking) || textOf(thinking)
    const calls = toObjects(part.tool_calls)
    append(this.#message, 'content', text)
    append(this.#message, 'thinking', thought)
    this.#calls.push(...calls)
    return {
      ...textField('text', text),
      isToken: text !== '' || thought !== '' || calls.length > 0,
      isLast: event.done === true || event.error !== undefined,
    }
  }

  response(): JsonObject {
    const { content = '', ...rest } = this.#message
    if (this.#isGenerate) return { ...this.#fields, response: content, ...rest }
    const calls = this.#calls.length > 0 && { tool_calls: this.#calls }
    return { ...this.#fields, message: { role: 'assistant', content, ...rest, ...calls } }
  }
}
