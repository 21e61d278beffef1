import {
  anthropicMessages,
  geminiEmbed,
  geminiGenerate,
  openAiChat,
  openAiCompletions,
  openAiEmbeddings,
  openAiResponses,
  type ModelApi,
  toObject,
  type JsonObject,
} from '@playhead/model'
import { summarizeError } from '../../record/value/describe-error.ts'
import { activeCapture } from '../calls/active-capture.ts'
import { noteSource, wrapMethod } from './wrap-method.ts'
import { wrapTransport } from './wrap-transport.ts'

/**
 * Records the calls of an OpenAI client that can't be observed at the HTTP layer: it has its own dispatcher from an old
 * undici, or a `fetch` that does not use HTTP. Calls that are observed there as well are counted once.
 *
 * @example
 * const client = playhead.wrapOpenAI(new OpenAI({ fetch: myOwnTransport }))
 */
export function wrapOpenAI<Client extends object>(client: Client): Client {
  return wrapSafely(client, wrapOpenAIMethods)
}

function wrapOpenAIMethods(client: object): void {
  const url = baseUrlOf(client, 'https://api.openai.com/v1')
  const { chat, responses, embeddings, completions } = toObject(client)
  wrapCreate(toObject(chat).completions, openAiChat, url)
  wrapCreate(responses, openAiResponses, url)
  wrapCreate(embeddings, openAiEmbeddings, url)
  wrapCreate(completions, openAiCompletions, url)
  wrapTransport(client, noteSource)
  rewrapCopies(client, wrapOpenAI)
}

/** The other methods of these resources (parse, stream, runTools) call `create`. */
function wrapCreate(resource: unknown, api: ModelApi, url: URL): void {
  wrapMethod(resource, 'create', ([body]) => ({ api, body: toObject(body), url }))
}

/**
 * Records the calls of an Anthropic client that can't be observed at the HTTP layer: it has its own dispatcher from an old
 * undici, or a `fetch` that does not use HTTP. Calls that are observed there as well are counted once.
 *
 * @example
 * const client = playhead.wrapAnthropic(new Anthropic({ fetch: myOwnTransport }))
 */
export function wrapAnthropic<Client extends object>(client: Client): Client {
  return wrapSafely(client, wrapAnthropicMethods)
}

function wrapAnthropicMethods(client: object): void {
  const url = baseUrlOf(client, 'https://api.anthropic.com')
  const { messages, beta } = toObject(client)
  for (const resource of [messages, toObject(beta).messages])
    wrapMethod(resource, 'create', ([body]) => ({ api: anthropicMessages, body: toObject(body), url }))
  wrapTransport(client, noteSource)
  rewrapCopies(client, wrapAnthropic)
}

/**
 * Records the calls of a client of Google's Gen AI SDK that can't be observed at the HTTP layer. Calls that are observed
 * there as well are counted once.
 *
 * @example
 * const client = playhead.wrapGoogleGenAI(new GoogleGenAI({ apiKey }))
 */
export function wrapGoogleGenAI<Client extends object>(client: Client): Client {
  return wrapSafely(client, wrapGoogleGenAIMethods)
}

function wrapGoogleGenAIMethods(client: object): void {
  const { models, vertexai } = toObject(client)
  const host = vertexai === true ? 'aiplatform.googleapis.com' : 'generativelanguage.googleapis.com'
  const urlOf = ({ model: path }: JsonObject, verb: string) => {
    const model = typeof path === 'string' ? path.split('/').at(-1)! : ''
    return new URL(`https://${host}/v1beta/models/${encodeURIComponent(model)}:${verb}`)
  }
  for (const verb of ['generateContent', 'generateContentStream']) {
    const path = verb === 'generateContent' ? verb : 'streamGenerateContent'
    wrapMethod(models, verb, ([parameters]) => ({
      api: geminiGenerate,
      body: generateBody(toObject(parameters)),
      url: urlOf(toObject(parameters), path),
    }))
  }
  wrapMethod(models, 'embedContent', ([parameters]) => ({
    api: geminiEmbed,
    body: embedBody(toObject(parameters)),
    url: urlOf(toObject(parameters), 'embedContent'),
  }))
}

/** Whatever the client is, the host gets it back. */
function wrapSafely<Client extends object>(client: Client, wrap: (client: object) => void): Client {
  try {
    wrap(client)
  } catch (error) {
    activeCapture()?.reportOnce('wrap', `A client could not be wrapped: ${summarizeError(error)}.`)
  }
  return client
}

/** Translates the client's parameters into the request body. */
function generateBody({ contents, config }: JsonObject): JsonObject {
  const { systemInstruction, tools, toolConfig, ...generationConfig } = toObject(config)
  const instruction =
    typeof systemInstruction === 'string' ? { parts: [{ text: systemInstruction }] } : systemInstruction
  return { contents: listOf(contents), systemInstruction: instruction, tools, toolConfig, generationConfig }
}

function embedBody({ contents, config }: JsonObject): JsonObject {
  return { requests: listOf(contents).map((content) => ({ content })), ...toObject(config) }
}

function listOf(contents: unknown): unknown[] {
  return Array.isArray(contents) ? (contents as unknown[]) : [contents]
}

function baseUrlOf(client: object, defaultUrl: string): URL {
  const { baseURL } = toObject(client)
  return new URL(typeof baseURL === 'string' && URL.canParse(baseURL) ? baseURL : defaultUrl)
}

/** `withOptions` returns a new client, which is wrapped as well. */
function rewrapCopies(client: object, wrap: (copy: object) => object): void {
  const target = client as Record<string, unknown>
  const copy = target.withOptions
  if (typeof copy !== 'function' || Object.hasOwn(client, 'withOptions')) return
  const withOptions = function withOptions(this: unknown, ...args: unknown[]): unknown {
    return wrap(Reflect.apply(copy, this, args) as object)
  }
  Reflect.defineProperty(target, 'withOptions', { value: withOptions, configurable: true, writable: true })
}
