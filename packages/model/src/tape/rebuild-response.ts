import type { JsonObject } from '../json/attribute-value.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi } from '../providers/model-api.ts'
import { ollamaChat } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import type { Step } from '../session/step.ts'
import { keptResponse, readAnswer, recordedStatus } from './recorded-answer.ts'
import type { LiveRequest, ResponseWriter } from './response-writer.ts'
import { anthropicWriter } from './write-anthropic.ts'
import { geminiWriter } from './write-gemini.ts'
import { ollamaWriter } from './write-ollama.ts'
import { chatWriter, completionsWriter } from './write-openai-chat.ts'
import { responsesWriter } from './write-openai-responses.ts'

const writers = new Map<ModelApi, ResponseWriter>([
  [openAiChat, chatWriter],
  [openAiCompletions, completionsWriter],
  [openAiResponses, responsesWriter],
  [anthropicMessages, anthropicWriter],
  [geminiGenerate, geminiWriter],
  [ollamaChat, ollamaWriter],
])

/** What a client gets instead of a response from the network. */
export type TapedResponse =
  | {
      kind: 'response'
      status: number
      headers: Record<string, string>
      chunks: string[]
      isAborted?: boolean
    }
  | { kind: 'connection-error'; code: string; message: string }

/** A recorded wait before a retry is no reason to wait again. */
const RETRY_AT_ONCE = { 'retry-after-ms': '1' }

/**
 * The recorded answer in the form that the live request asks for: the provider's JSON, or its events. Undefined if
 * the API is not one that can be rebuilt.
 */
export function rebuildResponse(
  step: Step,
  api: ModelApi,
  request: LiveRequest & { isStream: boolean },
): TapedResponse | undefined {
  const writer = writers.get(api)
  const status = recordedStatus(step) ?? (step.status === 'error' ? undefined : 200)
  if (status === undefined) return connectionError(step)
  if (status >= 400) return failedResponse(step, status, writer)
  if (writer === undefined) return undefined
  const response = keptResponse(step) ?? writer.write(readAnswer(step), request)
  if (!request.isStream) return wholeResponse(response, status)
  const pieces = step.streaming?.chunks?.map(([, text]) => text) ?? []
  return {
    kind: 'response',
    status,
    headers: { 'content-type': writer.streamType(request) },
    chunks: writer.stream(response, request, pieces),
    ...(step.streaming?.isAborted === true && { isAborted: true }),
  }
}

function wholeResponse(body: JsonObject, status: number): TapedResponse {
  return {
    kind: 'response',
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}

function failedResponse(step: Step, status: number, writer: ResponseWriter | undefined): TapedResponse {
  const error = { type: step.error?.type ?? '', message: step.error?.message ?? '', status }
  return errorResponse(error, writer ?? chatWriter, RETRY_AT_ONCE)
}

function connectionError({ error }: Step): TapedResponse {
  return { kind: 'connection-error', code: error?.type ?? 'ECONNRESET', message: error?.message ?? '' }
}

/** The response for a request that the tape has no answer to. No client retries it, and all show its message. */
export function missResponse(sentence: string, api: ModelApi | undefined): TapedResponse {
  const writer = (api === undefined ? undefined : writers.get(api)) ?? chatWriter
  const error = { type: 'playhead_miss', message: sentence, status: 400 }
  return errorResponse(error, writer, { 'x-should-retry': 'false' })
}

function errorResponse(
  error: { type: string; message: string; status: number },
  writer: ResponseWriter,
  headers: Record<string, string>,
): TapedResponse {
  return {
    kind: 'response',
    status: error.status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify(writer.writeError(error))],
  }
}
