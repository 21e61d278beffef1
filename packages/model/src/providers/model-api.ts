import { firstText, isRecord, toObject, type JsonObject } from '../json/attribute-value.ts'
import type { ToolDefinition } from '../session/message.ts'
import type { ProviderMessage } from './messages.ts'
import type { ProviderPart } from './parts.ts'
import type { TokenUsage } from './usage.ts'

/** One HTTP API of a provider: how to read its requests, its responses and its streams. */
export type ModelApi = {
  readRequest(body: JsonObject, url: URL): ModelRequest
  readResponse(body: JsonObject): ModelResponse
  createAssembler(): StreamAssembler
}

/** An operation name of the semantic conventions. */
export type Operation = 'chat' | 'text_completion' | 'embeddings' | 'generate_content'

export type ModelRequest = {
  operation: Operation
  model?: string
  isStream: boolean
  system?: ProviderPart[]
  messages: ProviderMessage[]
  tools?: ToolDefinition[]
  /** Parameters of the request by the name of their attribute: `gen_ai.request.temperature`. */
  attributes: RequestAttributes
}

export type ModelResponse = {
  id?: string
  model?: string
  messages: ProviderMessage[]
  finishReasons: string[]
  usage?: TokenUsage
  attributes?: RequestAttributes
  /** An error in a response with status 200. */
  error?: ProviderError
}

export type RequestAttributes = Record<string, string | number | boolean | string[]>

export type ProviderError = { type: string; message: string }

/** Assembles the events of a stream into the response that a request without streaming would get. */
export type StreamAssembler = {
  add(event: JsonObject): StreamDelta
  response(): JsonObject
}

/** What one event of a stream added. */
export type StreamDelta = {
  /** The text that a user sees appear. */
  text?: string
  /** True when the model generated it: text, reasoning, or a piece of a tool's arguments. */
  isToken: boolean
  /** True when nothing can follow. */
  isLast: boolean
}

/** For APIs that do not stream: the last event is the response. */
export function createWholeAssembler(): StreamAssembler {
  let last: JsonObject = {}
  return {
    add(event) {
      last = event
      return { isToken: false, isLast: false }
    },
    response: () => last,
  }
}

/** The error in the body of a failed response, whoever the provider is. */
export function readProviderError(body: unknown): ProviderError | undefined {
  const holder = toObject(Array.isArray(body) ? body[0] : body)
  const error = holder.error ?? holder.detail ?? holder.message
  if (typeof error === 'string') return { type: '', message: error }
  if (!isRecord(error)) return undefined
  // Gemini's code is the HTTP status; OpenAI's is a word that says more than the type.
  const type = [error.code, error.status, error.type].find(
    (word) => typeof word === 'string' && word !== '' && !/^\d+$/.test(word),
  )
  return { type: firstText(type) ?? '', message: firstText(error.message) ?? '' }
}

/** The fields that most responses share, besides the messages. */
export function responseFacts(
  body: JsonObject,
  usage: TokenUsage | undefined,
): Pick<ModelResponse, 'id' | 'model' | 'usage' | 'error'> {
  const error = body.error === undefined || body.error === null ? undefined : readProviderError(body)
  return {
    ...textField('id', body.id),
    ...textField('model', body.model),
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
  }
}

/** The field as an object to spread; empty if there is no text. */
export function textField<Name extends string>(name: Name, value: unknown): { [Field in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Field in Name]: string }) : {}
}

/** Attributes by the field of a request or response that they come from. */
export function attributesFrom(
  source: JsonObject,
  names: Readonly<Record<string, string>>,
): RequestAttributes {
  const attributes: RequestAttributes = {}
  for (const field in names) {
    const value = toAttribute(source[field])
    if (value !== undefined) attributes[names[field]!] = value
  }
  return attributes
}

/** Parameters whose attribute has the same name. */
export function requestAttributes(...fields: string[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, `gen_ai.request.${field}`]))
}

function toAttribute(value: unknown): RequestAttributes[string] | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isTexts ? value : JSON.stringify(value)
}

/** The output format that a request asks for: `json`, `text` or the provider's own word. */
export function outputType(word: unknown): RequestAttributes {
  if (typeof word !== 'string') return {}
  return { 'gen_ai.output.type': word.includes('json') ? 'json' : word }
}
