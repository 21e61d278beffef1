import { isRecord, textOf, toNumber, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { parseJsonText } from '../json/json-text.ts'
import { readMessage, separateToolResults } from './messages.ts'
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
import { append } from './openai-chat.ts'
import { readContent } from './parts.ts'
import { readTools } from './tools.ts'
import { readUsage } from './usage.ts'

/** Anthropic's messages API, at Anthropic, Bedrock and Vertex. */
export const anthropicMessages: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new MessageAssembler(),
}

const parameters = requestAttributes(
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'stop_sequences',
  'stream',
  'tool_choice',
  'thinking',
  'service_tier',
)

/** On Bedrock and Vertex the path names the model, and whether the response streams. */
const modelInPath = /\/(?:model|models)\/([^/:]+(?::\d+)?)(?:\/invoke|:(?:stream)?[rR]awPredict)/
const streamInPath = /\/invoke-with-response-stream$|:streamRawPredict$/

function readRequest(body: JsonObject, { pathname }: URL): ModelRequest {
  const isStream = body.stream === true || streamInPath.test(pathname)
  return {
    operation: 'chat',
    ...textField('model', textOf(body.model) || modelInPath.exec(decodeURIComponent(pathname))?.[1]),
    isStream,
    system: readContent(body.system),
    messages: separateToolResults(toObjects(body.messages).map((message) => readMessage(message, 'user')!)),
    tools: readTools(body.tools),
    attributes: {
      ...attributesFrom({ ...body, stream: isStream || undefined }, parameters),
      ...formatOf(body),
    },
  }
}

function formatOf(body: JsonObject): RequestAttributes {
  const format = body.output_format ?? toObject(body.output_config).format
  if (!isRecord(format)) return {}
  return { 'gen_ai.request.response_format': JSON.stringify(format), ...outputType(format.type) }
}

function readResponse(body: JsonObject): ModelResponse {
  const parts = readContent(body.content)
  const reason = textField('finishReason', body.stop_reason)
  return {
    // The input leaves out what was read from the cache and what was written to it.
    ...responseFacts(body, readUsage(body.usage, { isCacheApart: true })),
    messages: parts.length === 0 ? [] : [{ role: 'assistant', parts, ...reason }],
    finishReasons: Object.values(reason),
    attributes: attributesFrom(toObject(body.usage), { service_tier: 'gen_ai.response.service_tier' }),
  }
}

class MessageAssembler implements StreamAssembler {
  #message: JsonObject = {}
  readonly #blocks: JsonObject[] = []
  readonly #inputs: string[] = []

  add(event: JsonObject): StreamDelta {
    const index = toNumber(event.index) ?? 0
    switch (event.type) {
      case 'message_start':
        this.#message = { ...toObject(event.message) }
        break
      case 'content_block_start':
        this.#blocks[index] = { ...toObject(event.content_block) }
        break
      case 'content_block_delta':
        return this.#addDelta(index, toObject(event.delta))
      case 'message_delta':
        this.#finish(toObject(event.delta), toObject(event.usage))
        break
      case 'error':
        this.#message.error = event.error
        return { isToken: false, isLast: true }
    }
    return { isToken: false, isLast: event.type === 'message_stop' }
  }

  response(): JsonObject {
    const blocks = this.#blocks.map((block, index) => {
      const input = this.#inputs[index]
      return input === undefined ? block : { ...block, input: parseJsonText(input) }
    })
    return { ...this.#message, content: blocks.filter(isRecord) }
  }

  #addDelta(index: number, delta: JsonObject): StreamDelta {
    const block = (this.#blocks[index] ??= { type: 'text', text: '' })
    const text = textOf(delta.text)
    const thinking = textOf(delta.thinking)
    const input = textOf(delta.partial_json)
    append(block, 'text', text)
    append(block, 'thinking', thinking)
    if (input !== '') this.#inputs[index] = (this.#inputs[index] ?? '') + input
    return { ...textField('text', text), isToken: (text || thinking || input) !== '', isLast: false }
  }

  /** Merges the usage into that of the start; a repeated count replaces the earlier one. */
  #finish(delta: JsonObject, usage: JsonObject): void {
    const { stop_reason: reason, stop_sequence: sequence } = delta
    if (reason !== undefined) this.#message.stop_reason = reason
    if (sequence !== undefined) this.#message.stop_sequence = sequence
    const merged = { ...toObject(this.#message.usage) }
    for (const field of Object.keys(usage)) if (usage[field] !== null) merged[field] = usage[field]
    this.#message.usage = merged
  }
}
