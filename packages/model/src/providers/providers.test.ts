import { describe, expect, test } from 'vitest'
import { loadJson } from '../../test/load-fixture.ts'
import type { JsonObject } from '../json/attribute-value.ts'
import type { Message } from '../session/message.ts'
import { anthropicMessages } from './anthropic.ts'
import { writeMessage, writePart, writeTool } from './conventions.ts'
import { geminiEmbed, geminiGenerate } from './gemini.ts'
import { toMessages } from './messages.ts'
import { readProviderError, type ModelApi, type ModelRequest, type ModelResponse } from './model-api.ts'
import { ollamaChat, ollamaEmbed } from './ollama.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiCompletions } from './openai-completions.ts'
import { openAiEmbeddings } from './openai-embeddings.ts'
import { openAiResponses } from './openai-responses.ts'
import { messagesOfResponse } from './payload.ts'

/** One exchange with a provider, and what a reader has to make of it. Python's tests run the same cases. */
type Exchange = {
  name: string
  url: string
  request: JsonObject
  /** Only of failures. */
  status?: number
  response?: JsonObject
  events?: JsonObject[]
  expected: JsonObject
}

const apis: Record<string, (url: string) => ModelApi> = {
  anthropic: () => anthropicMessages,
  gemini: (url) => (/embed/i.test(url) ? geminiEmbed : geminiGenerate),
  ollama: (url) => (url.includes('embed') ? ollamaEmbed : ollamaChat),
  'openai-chat': () => openAiChat,
  'openai-completions': () => openAiCompletions,
  'openai-embeddings': () => openAiEmbeddings,
  'openai-responses': () => openAiResponses,
}

describe.each(Object.entries(apis))('%s', (provider, apiOf) => {
  test.each(loadJson(`providers/${provider}.json`) as Exchange[])('$name', (exchange) => {
    const { url, request, status, response, events, expected } = structuredClone(exchange)
    const api = apiOf(url)
    const read: JsonObject = { request: writeRequest(api.readRequest(request, new URL(url))) }
    if (status !== undefined) read.error = readProviderError(response)
    else if (events === undefined) read.response = writeResponse(api.readResponse(response!))
    else {
      const assembler = api.createAssembler()
      read.text = events.map((event) => assembler.add(event).text ?? '').join('')
      read.response = writeResponse(api.readResponse(assembler.response()))
    }
    expect(read).toEqual(expected)
  })
})

/** A dialect sorts no choices, keeps unknown blocks of a result as they are, and knows no thoughts of `/api/generate`. */
const differing = new Set([
  'several choices, out of order, one of them empty',
  'server tools and remote MCP tools',
  'generate: a prompt, a system message and an image',
])
const answered = Object.keys(apis)
  .flatMap((provider) => loadJson(`providers/${provider}.json`) as Exchange[])
  .filter(
    ({ name, status, response }) => status === undefined && response !== undefined && !differing.has(name),
  )

test.each(answered)('a dialect reads the same from the response itself: $name', ({ response, expected }) => {
  const { messages } = expected.response as { messages: unknown[] }
  const parts = (list: Message[] = []) =>
    list.flatMap((message) =>
      // The conventions have no field for the signature of reasoning.
      message.parts.map((part) => (part.type === 'reasoning' ? { ...part, signature: undefined } : part)),
    )
  expect(parts(messagesOfResponse(response))).toEqual(parts(toMessages(messages, 'assistant')))
})

/** As spans say it, without what is empty. */
function writeRequest({ system = [], messages, tools = [], ...request }: ModelRequest): JsonObject {
  return {
    ...request,
    ...(system.length > 0 && { system: system.map(writePart) }),
    messages: messages.map(writeMessage),
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
  }
}

function writeResponse({ messages, attributes = {}, ...response }: ModelResponse): JsonObject {
  return {
    ...response,
    messages: messages.map(writeMessage),
    ...(Object.keys(attributes).length > 0 && { attributes }),
  }
}
