import { isRecord, type JsonObject } from '../json/attribute-value.ts'
import { writeMessage } from '../providers/conventions.ts'
import { toMessages } from '../providers/messages.ts'
import { readProviderError, type ModelApi } from '../providers/model-api.ts'
import type { CassetteAnswer } from './cassette.ts'
import { apiNamed, nameApi } from './model-api-names.ts'
import {
  errorResponse,
  rebuildResponse,
  retryHeaders,
  wholeResponse,
  type TapedResponse,
} from './rebuild-response.ts'
import type { LiveRequest } from './response-writer.ts'
import type { ModelEntry } from './tape-entry.ts'
import { assembleEvents } from './write-cassette.ts'

type AnsweredRequest = LiveRequest & { isStream: boolean }

/**
 * What a client gets for a request that the entry answers: the recorded bytes where a cassette has them and the request
 * asks for that form, else the same answer in the form that it asks for. Undefined if that can't be made.
 */
export function respondFromEntry(
  entry: ModelEntry,
  api: ModelApi,
  request: AnsweredRequest,
): TapedResponse | undefined {
  if (entry.exact === undefined) return rebuildResponse(entry.step, api, request)
  const { answer, api: recordedApi } = entry.exact
  if ('error' in answer) return { kind: 'connection-error', ...answer.error }
  if (answer.status >= 400) return failedResponse(answer, recordedApi, api)
  if (nameApi(api).name !== recordedApi) return respondInOtherApi(entry, api, request)
  const { status, headers } = answer
  // Gemini streams a JSON list to those who do not ask for events.
  const isListed = request.isStream && nameApi(api).writer?.streamType(request) === 'application/json'
  if ('events' in answer && request.isStream && !isListed) {
    const { isAborted, failure } = answer
    return {
      kind: 'response',
      status,
      headers,
      chunks: answer.events.map(([, text]) => text),
      ...(isAborted === true && { isAborted }),
      ...(failure !== undefined && { failure }),
    }
  }
  if ('body' in answer && Array.isArray(answer.body) === isListed && request.isStream === isListed)
    return isRecord(answer.body)
      ? { ...wholeResponse(answer.body, status), headers }
      : { kind: 'response', status, headers, chunks: [textOfBody(answer.body)] }
  const body = bodyOf(answer, recordedApi)
  return body === undefined ? undefined : rebuildResponse(keeping(entry, body), api, request)
}

type HttpAnswer = Extract<CassetteAnswer, { status: number }>

function failedResponse(answer: HttpAnswer, recordedApi: string, api: ModelApi): TapedResponse {
  const { status } = answer
  const body = 'body' in answer ? answer.body : answer.events.map(([, text]) => text).join('')
  if (nameApi(api).name !== recordedApi) {
    const { type, message } = readProviderError(body) ?? { type: '', message: textOfBody(body) }
    return errorResponse({ type, message, status }, nameApi(api).writer, retryHeaders(answer.headers))
  }
  const headers = { ...answer.headers, ...retryHeaders(answer.headers) }
  return { kind: 'response', status, headers, chunks: [textOfBody(body)] }
}

function respondInOtherApi(
  entry: ModelEntry,
  api: ModelApi,
  request: AnsweredRequest,
): TapedResponse | undefined {
  const { answer, api: recordedApi } = entry.exact!
  const body = 'error' in answer ? undefined : bodyOf(answer, recordedApi)
  const recorded = apiNamed(recordedApi)?.api
  if (body === undefined || recorded === undefined) return undefined
  const { messages, usage, id, model, finishReasons } = recorded.readResponse(body)
  const replies = toMessages(messages.map(writeMessage), 'assistant')
  const step = {
    ...entry.step,
    messages: replies.map((message) => ({ ...message, isOutput: true })),
    finishReasons,
    ...(usage !== undefined && { usage }),
    ...(id !== undefined && { responseId: id }),
    ...(model !== undefined && { model }),
  }
  return rebuildResponse(step, api, request)
}

function bodyOf(answer: HttpAnswer, api: string): JsonObject | undefined {
  if ('events' in answer) return assembleEvents(answer.events, api)
  if (Array.isArray(answer.body)) return assembleEvents([[0, JSON.stringify(answer.body)]], api)
  return isRecord(answer.body) ? answer.body : undefined
}

function keeping({ step }: ModelEntry, body: JsonObject): ModelEntry['step'] {
  return { ...step, attributes: { ...step.attributes, 'playhead.response': JSON.stringify(body) } }
}

function textOfBody(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
