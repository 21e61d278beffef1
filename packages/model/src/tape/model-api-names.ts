import { isRecord, toObjects, type JsonObject } from '../json/attribute-value.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { geminiEmbed, geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi } from '../providers/model-api.ts'
import { ollamaChat, ollamaEmbed } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiEmbeddings } from '../providers/openai-embeddings.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import type { Step } from '../session/step.ts'
import type { ResponseWriter } from './response-writer.ts'
import { anthropicWriter } from './write-anthropic.ts'
import { geminiWriter } from './write-gemini.ts'
import { ollamaWriter } from './write-ollama.ts'
import { chatWriter, completionsWriter } from './write-openai-chat.ts'
import { responsesWriter } from './write-openai-responses.ts'

/** An API as cassettes name it. */
export type NamedApi = {
  name: string
  api: ModelApi
  /** Where it usually is, for a recording that does not say. */
  path: string
  /** Absent for answers that can't be rebuilt. */
  writer?: ResponseWriter
  /** True for the body of an answer of this API. */
  isAnswer: (body: JsonObject) => boolean
}

const apis: readonly NamedApi[] = [
  {
    name: 'openai-completions',
    api: openAiCompletions,
    path: '/v1/completions',
    writer: completionsWriter,
    isAnswer: ({ choices, object }) =>
      object === 'text_completion' || toObjects(choices).some(({ text }) => text !== undefined),
  },
  {
    name: 'openai-chat',
    api: openAiChat,
    path: '/v1/chat/completions',
    writer: chatWriter,
    isAnswer: ({ choices }) => Array.isArray(choices),
  },
  {
    name: 'openai-responses',
    api: openAiResponses,
    path: '/v1/responses',
    writer: responsesWriter,
    isAnswer: ({ output }) => Array.isArray(output),
  },
  {
    name: 'anthropic-messages',
    api: anthropicMessages,
    path: '/v1/messages',
    writer: anthropicWriter,
    isAnswer: ({ type }) => type === 'message',
  },
  {
    name: 'gemini-generate',
    api: geminiGenerate,
    path: '/v1beta/models',
    writer: geminiWriter,
    isAnswer: ({ candidates, promptFeedback }) => Array.isArray(candidates) || isRecord(promptFeedback),
  },
  {
    name: 'ollama-chat',
    api: ollamaChat,
    path: '/api/chat',
    writer: ollamaWriter,
    isAnswer: ({ done }) => done !== undefined,
  },
  {
    name: 'openai-embeddings',
    api: openAiEmbeddings,
    path: '/v1/embeddings',
    isAnswer: ({ data, object }) => object === 'list' && Array.isArray(data),
  },
  {
    name: 'gemini-embed',
    api: geminiEmbed,
    path: '/v1beta/models',
    isAnswer: ({ embedding, embeddings, model }) =>
      model === undefined && (embedding ?? embeddings) !== undefined,
  },
  {
    name: 'ollama-embed',
    api: ollamaEmbed,
    path: '/api/embed',
    isAnswer: ({ embedding, embeddings }) => (embedding ?? embeddings) !== undefined,
  },
]

export function apiNamed(name: string): NamedApi | undefined {
  return apis.find((known) => known.name === name)
}

export function nameApi(api: ModelApi): NamedApi {
  return apis.find((known) => known.api === api)!
}

/** True for a body that another API has answered with. */
export function isOfOtherApi(body: JsonObject, api: ModelApi): boolean {
  const found = apis.find(({ isAnswer }) => isAnswer(body))
  return found !== undefined && found.api !== api
}

/** The API whose answer this is; chat completions, which most hosts imitate, if nothing tells. */
export function apiOfAnswer(
  body: JsonObject | undefined,
  { provider = '' }: Pick<Step, 'provider'>,
): NamedApi {
  const found = body === undefined ? undefined : apis.find(({ isAnswer }) => isAnswer(body))
  if (found !== undefined) return found
  if (/anthropic/i.test(provider)) return apiNamed('anthropic-messages')!
  return /google|gemini|vertex/i.test(provider) ? apiNamed('gemini-generate')! : apiNamed('openai-chat')!
}
