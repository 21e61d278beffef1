import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerAnthropic } from './answer-anthropic.ts'
import { answerGeminiEmbeddings, answerOpenAiEmbeddings } from './answer-embeddings.ts'
import { answerGemini } from './answer-gemini.ts'
import { answerOllama } from './answer-ollama.ts'
import { answerOpenAiChat, answerOpenAiCompletion } from './answer-openai-chat.ts'
import { answerOpenAiResponses } from './answer-openai-responses.ts'
import type { ProviderResponse } from './answer.ts'
import { defaultReply } from './default-reply.ts'
import { asObject, parseLoosely, asText } from './json.ts'
import {
  completeRequest,
  type ModelRequest,
  emptyMessage,
  type RequestMessage,
  type RequestParts,
} from './model-request.ts'
import { prepareReply, type PreparedReply } from './prepare-reply.ts'
import { apiOfPath, readRequest } from './read-request.ts'
import { toFullReply, type FullReply, type Reply } from './reply.ts'
import { sendError, sendEvents, sendWhole } from './send-answer.ts'

/** Returns a reply, or undefined to leave the request to the next rule. */
export type Rule = (request: ModelRequest) => Reply | undefined | Promise<Reply | undefined>

/** One rule or a list; the first one with a reply wins, and the default reply comes last. */
export type Script = Rule | readonly Rule[]

export type RecordedRequest = ModelRequest & {
  reply: FullReply
  /** The reply that was sent, unless it was an error. */
  sent?: PreparedReply
  /** The bytes of the body sent so far. */
  sentBytes: Uint8Array[]
  /** Time from the request's arrival to the first byte of the body. */
  firstByteMs?: number
  /** True when the client disconnected before the response was complete. */
  isAborted: boolean
}

export type ScriptedModel = {
  /** `http://127.0.0.1:port`. For OpenAI's base URL, append `/v1`. */
  url: string
  requests: RecordedRequest[]
  stop(): Promise<void>
}

/** Starts a model server on a free local port. It speaks the APIs of OpenAI, Anthropic, Gemini and Ollama. */
export async function startScriptedModel(script: Script = []): Promise<ScriptedModel> {
  const rules: readonly Rule[] = typeof script === 'function' ? [script] : script
  const requests: RecordedRequest[] = []
  const conversations = new Conversations()
  const server = createServer((request, response) => {
    answerRequest(request, response, { rules, requests, conversations }).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else sendError(response, undefined, { status: 500, message: `The script failed: ${String(error)}` })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, stop: () => stop(server) }
}

type Session = { rules: readonly Rule[]; requests: RecordedRequest[]; conversations: Conversations }

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  session: Session,
): Promise<void> {
  const arrivedAt = performance.now()
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  const api = apiOfPath(path)
  const body = asObject(parseLoosely(await readText(request)))
  if (request.method !== 'POST' || api === undefined) {
    const message = `No model answers ${request.method} ${path}. Try POST /v1/chat/completions.`
    return sendError(response, api, { status: 404, message })
  }
  const parts = session.conversations.continue(readRequest(api, body, path))
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  )
  const asked = completeRequest(parts, { path, headers })
  const reply = toFullReply(await findReply(asked, session.rules))
  const recorded: RecordedRequest = { ...asked, reply, sentBytes: [], isAborted: false }
  const serial = session.requests.push(recorded)
  response.once('close', () => (recorded.isAborted = !response.writableFinished))
  if (reply.delayMs !== undefined) await sleep(reply.delayMs)
  if (response.destroyed) return
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  response.setHeader('x-request-id', `req_${serial}`)
  if (reply.error !== undefined) return sendError(response, api, reply.error)
  const onWrite = (bytes: Uint8Array) => {
    recorded.firstByteMs ??= performance.now() - arrivedAt
    recorded.sentBytes.push(bytes)
  }
  if (reply.isMalformed) return sendWhole(response, '{"id": "broken', { reply, onWrite })
  if (reply.rawBody !== undefined) return sendWhole(response, reply.rawBody, { reply, onWrite })
  const sent = prepareReply(asked, reply, serial)
  recorded.sent = sent
  session.conversations.remember(asked, sent)
  const answer = modelReply(asked, sent)
  if (asked.isStream) await sendEvents(response, answer, { reply, onWrite })
  else await sendWhole(response, JSON.stringify(answer.whole), { reply, onWrite })
}

function modelReply(request: ModelRequest, reply: PreparedReply): ProviderResponse {
  switch (request.api) {
    case 'openai.chat':
      return answerOpenAiChat(request, reply)
    case 'openai.completions':
      return answerOpenAiCompletion(reply)
    case 'openai.responses':
      return answerOpenAiResponses(request, reply)
    case 'anthropic.messages':
      return answerAnthropic(reply)
    case 'gemini.generate':
      return answerGemini(reply)
    case 'ollama.chat':
      return answerOllama(reply)
    case 'openai.embeddings':
      return { whole: answerOpenAiEmbeddings(request, reply), events: [], eventType: 'text/event-stream' }
    case 'gemini.embed':
      return { whole: answerGeminiEmbeddings(request), events: [], eventType: 'text/event-stream' }
  }
}

async function findReply(request: ModelRequest, rules: readonly Rule[]): Promise<Reply> {
  for (const rule of rules) {
    const reply = await rule(request)
    if (reply !== undefined) return reply
  }
  return defaultReply(request)
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Keeps the messages of OpenAI responses, which later requests continue by id only. */
class Conversations {
  readonly #messages = new Map<string, RequestMessage[]>()

  continue(parts: RequestParts): RequestParts {
    const before = this.#messages.get(asText(parts.body.previous_response_id))
    return before === undefined ? parts : { ...parts, messages: [...before, ...parts.messages] }
  }

  remember(request: ModelRequest, reply: PreparedReply): void {
    if (request.api !== 'openai.responses') return
    const answer = emptyMessage('assistant', reply.text)
    answer.toolCalls.push(...reply.toolCalls)
    this.#messages.set(reply.id, [...request.messages, answer])
  }
}
