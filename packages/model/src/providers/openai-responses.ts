import { isRecord, textOf, toNumber, toObject, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { readMessage, type ProviderMessage } from './messages.ts'
import {
  attributesFrom,
  outputType,
  requestAttributes,
  textField,
  type ModelApi,
  type ModelRequest,
  type ModelResponse,
  type StreamAssembler,
  type StreamDelta,
} from './model-api.ts'
import { append, openAiFacts } from './openai-chat.ts'
import { readContent, type ProviderPart } from './parts.ts'
import { readTools } from './tools.ts'

/** OpenAI's responses API. */
export const openAiResponses: ModelApi = {
  readRequest,
  readResponse,
  createAssembler: () => new ResponseAssembler(),
}

const parameters = {
  ...requestAttributes('temperature', 'top_p', 'stream', 'reasoning', 'tool_choice', 'parallel_tool_calls'),
  ...requestAttributes('max_tool_calls', 'previous_response_id', 'truncation', 'background'),
  max_output_tokens: 'gen_ai.request.max_tokens',
  text: 'gen_ai.request.response_format',
  service_tier: 'openai.request.service_tier',
}

function readRequest(body: JsonObject): ModelRequest {
  const format = toObject(toObject(body.text).format)
  const { conversation } = body
  return {
    operation: 'chat',
    ...textField('model', body.model),
    isStream: body.stream === true,
    system: readContent(body.instructions),
    messages: readInput(body.input),
    tools: readTools(body.tools),
    attributes: {
      ...attributesFrom({ ...body, text: format.type === undefined ? undefined : format }, parameters),
      ...outputType(format.type),
      ...textField('gen_ai.conversation.id', isRecord(conversation) ? conversation.id : conversation),
    },
  }
}

function readInput(input: unknown): ProviderMessage[] {
  if (typeof input === 'string') return [{ role: 'user', parts: readContent(input) }]
  return toObjects(input).map((item) => readMessage(item, 'assistant')!)
}

/** Joins the items of the output into one message. */
function readResponse(body: JsonObject): ModelResponse {
  const parts = readInput(body.output).flatMap((message) => message.parts)
  const reason = finishReasonOf(body, parts)
  return {
    ...openAiFacts(body),
    messages: parts.length === 0 ? [] : [{ role: 'assistant', parts, finishReason: reason || 'error' }],
    finishReasons: reason === '' ? [] : [reason],
  }
}

/** Responses have a status instead of a finish reason. */
function finishReasonOf(body: JsonObject, parts: readonly ProviderPart[]): string {
  if (body.status === 'incomplete') return textOf(toObject(body.incomplete_details).reason) || 'length'
  if (body.status !== 'completed') return body.status === 'in_progress' ? '' : textOf(body.status)
  return parts.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop'
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** The text field that each kind of delta appends to. */
const textDeltas = new Map([
  ['response.output_text.delta', { list: 'content', type: 'output_text', field: 'text', isVisible: true }],
  ['response.refusal.delta', { list: 'content', type: 'refusal', field: 'refusal', isVisible: true }],
  [
    'response.reasoning_summary_text.delta',
    { list: 'summary', type: 'summary_text', field: 'text', isVisible: false },
  ],
  [
    'response.reasoning_text.delta',
    { list: 'content', type: 'reasoning_text', field: 'text', isVisible: false },
  ],
])

const argumentDeltas = new Map([
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.mcp_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
])

/** The last event holds the whole response; the others matter when the stream breaks off. */
class ResponseAssembler implements StreamAssembler {
  #response: JsonObject = {}
  readonly #items: JsonObject[] = []

  add(event: JsonObject): StreamDelta {
    const type = textOf(event.type)
    if (isRecord(event.response)) this.#response = event.response
    if (type === 'error') {
      const error = isRecord(event.error) ? event.error : { code: event.code, message: event.message }
      this.#response = { ...this.#response, error }
    }
    if (lastEvents.has(type)) return { isToken: false, isLast: true }
    const index = toNumber(event.output_index) ?? 0
    if (isRecord(event.item)) this.#items[index] = structuredClone(event.item)
    return { isLast: false, ...this.#addDelta(type, index, event) }
  }

  response(): JsonObject {
    const { output } = this.#response
    const isWhole = Array.isArray(output) && output.length > 0
    return isWhole ? this.#response : { ...this.#response, output: this.#items.filter(isRecord) }
  }

  #addDelta(type: string, index: number, event: JsonObject): Omit<StreamDelta, 'isLast'> {
    const text = textOf(event.delta)
    const argumentField = argumentDeltas.get(type)
    const delta = textDeltas.get(type)
    if (text === '' || (argumentField === undefined && delta === undefined)) return { isToken: false }
    const item = (this.#items[index] ??= { type: 'message', content: [] })
    if (delta === undefined) {
      append(item, argumentField!, text)
      return { isToken: true }
    }
    const list = (item[delta.list] ??= []) as unknown[]
    const place = toNumber(event.content_index) ?? toNumber(event.summary_index) ?? 0
    append(toObject((list[place] ??= { type: delta.type })), delta.field, text)
    return delta.isVisible ? { isToken: true, text } : { isToken: true }
  }
}
