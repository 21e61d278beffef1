import { firstText, type JsonObject } from '../json/attribute-value.ts'
import type { ModelApi } from '../providers/model-api.ts'
import type { Step } from '../session/step.ts'
import { isOfOtherApi, nameApi } from './model-api-names.ts'
import { keptResponse, readAnswer, recordedStatus } from './recorded-answer.ts'
import { withoutEnding, type LiveRequest, type ResponseWriter } from './response-writer.ts'
import { chatWriter } from './write-openai-chat.ts'

/** What a client gets instead of a response from the network. */
export type TapedResponse =
  | {
      kind: 'response'
      status: number
      headers: Record<string, string>
      chunks: string[]
      /** The stream broke off after the chunks: the client stopped reading, unless `failure` says what broke it. */
      isAborted?: boolean
      failure?: ConnectionFailure
    }
  | ({ kind: 'connection-error' } & ConnectionFailure)

export type ConnectionFailure = { code: string; message: string }

/**
 * The headers of a failed response that say whether and when to ask again. A recorded wait is no reason to wait again,
 * but some clients give up without one.
 */
export function retryHeaders(recorded: Record<string, string | undefined>): Record<string, string> {
  const { 'retry-after': wait, 'x-should-retry': should } = recorded
  return {
    'retry-after-ms': '1',
    ...(wait !== undefined && { 'retry-after': '0' }),
    ...(should !== undefined && { 'x-should-retry': should }),
  }
}

/**
 * The recorded answer in the form that the live request asks for: the provider's JSON, or its events. Undefined if
 * the API is not one that can be rebuilt.
 */
export function rebuildResponse(
  step: Step,
  api: ModelApi,
  request: LiveRequest & { isStream: boolean },
): TapedResponse | undefined {
  const { writer } = nameApi(api)
  const status = recordedStatus(step) ?? (step.status === 'error' ? undefined : 200)
  if (status === undefined) return { kind: 'connection-error', ...connectionFailure(step) }
  if (status >= 400) return failedResponse(step, status, writer)
  if (writer === undefined) return undefined
  const response = rebuildBody(step, { api, writer }, request)
  if (!request.isStream) return wholeResponse(response, status)
  return {
    kind: 'response',
    status,
    headers: { 'content-type': writer.streamType(request) },
    ...streamBody(response, { step, writer, request }),
  }
}

/** The recorded answer as the API has it without streaming. */
export function rebuildBody(
  step: Step,
  { api, writer }: { api: ModelApi; writer: ResponseWriter },
  request: LiveRequest,
): JsonObject {
  const [kept, answer] = [keptResponse(step), readAnswer(step)]
  return kept === undefined || isOfOtherApi(kept, api)
    ? writer.write(answer, request)
    : (writer.complete?.(kept, answer) ?? kept)
}

/** The answer as a stream that ends as the recorded one did. */
export function streamBody(
  body: JsonObject,
  { step, writer, request }: { step: Step; writer: ResponseWriter; request: LiveRequest },
): { chunks: string[]; isAborted?: true; failure?: ConnectionFailure } {
  const { chunks: pieces = [], isAborted } = step.streaming ?? {}
  const events = writer.stream(
    body,
    request,
    pieces.map(([, text]) => text),
  )
  if (isAborted !== true) return { chunks: events }
  return {
    chunks: withoutEnding(events, writer.ending),
    isAborted,
    ...(step.status === 'error' && { failure: connectionFailure(step) }),
  }
}

export function wholeResponse(
  body: JsonObject,
  status: number,
): Extract<TapedResponse, { kind: 'response' }> {
  return {
    kind: 'response',
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}

function failedResponse(step: Step, status: number, writer: ResponseWriter | undefined): TapedResponse {
  const error = { type: step.error?.type ?? '', message: step.error?.message ?? '', status }
  const names = ['retry-after', 'x-should-retry']
  const recorded = names.map((name) => [name, recordedHeader(step, name)])
  return errorResponse(error, writer, retryHeaders(Object.fromEntries(recorded)))
}

function recordedHeader({ attributes }: Step, name: string): string | undefined {
  const values = attributes?.[`http.response.header.${name}`]
  return firstText(...(Array.isArray(values) ? values : [values]))
}

export function connectionFailure({ error }: Step): ConnectionFailure {
  return { code: error?.type ?? 'ECONNRESET', message: error?.message ?? '' }
}

/** The response for a request that the tape has no answer to. No client retries it, and all show its message. */
export function missResponse(sentence: string, api: ModelApi | undefined): TapedResponse {
  const writer = api === undefined ? undefined : nameApi(api).writer
  const error = { type: 'playhead_miss', message: sentence, status: 400 }
  return errorResponse(error, writer, { 'x-should-retry': 'false' })
}

export function errorResponse(
  error: { type: string; message: string; status: number },
  writer: ResponseWriter | undefined,
  headers: Record<string, string>,
): TapedResponse {
  return {
    kind: 'response',
    status: error.status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [JSON.stringify((writer ?? chatWriter).writeError(error))],
  }
}
