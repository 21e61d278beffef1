import type { ServerResponse } from 'node:http'
import type { ApiName } from './model-request.ts'
import type { ReplyError } from './reply.ts'

const types = new Map([
  [400, ['invalid_request_error', 'INVALID_ARGUMENT']],
  [401, ['authentication_error', 'UNAUTHENTICATED']],
  [404, ['not_found_error', 'NOT_FOUND']],
  [429, ['rate_limit_error', 'RESOURCE_EXHAUSTED']],
  [500, ['api_error', 'INTERNAL']],
  [529, ['overloaded_error', 'UNAVAILABLE']],
])

/** An error in the words of the API that was asked. */
export function sendError(response: ServerResponse, api: ApiName | undefined, error: ReplyError): void {
  const { status, message = `The script answers ${status}.`, retryAfterSeconds } = error
  const [word, googleWord] = types.get(status) ?? ['api_error', 'UNKNOWN']
  const type = error.type ?? word
  response.statusCode = status
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(bodyOf()))

  function bodyOf(): unknown {
    if (api === 'anthropic.messages')
      return { type: 'error', error: { type, message }, request_id: 'req_scripted' }
    if (api?.startsWith('gemini') === true)
      return { error: { code: status, message, status: error.type ?? googleWord } }
    if (api === 'ollama.chat') return { error: message }
    return { error: { message, type, param: null, code: error.type ?? null } }
  }
}
