import { isRecord } from '@playhead/model'

export type CallError = { type: string; message: string }

/** True if the host aborted the request. */
export function isAbort(error: unknown): boolean {
  if (!isRecord(error)) return false
  const { name, code } = error
  return (
    name === 'AbortError' ||
    name === 'CanceledError' ||
    name === 'TimeoutError' ||
    code === 'ABORT_ERR' ||
    code === 'ERR_CANCELED' ||
    code === 'UND_ERR_ABORTED'
  )
}

/** Describes a failed request by the code that people search for: ECONNREFUSED, UND_ERR_SOCKET, AbortError. */
export function describeRequestError(error: unknown): CallError {
  if (!isRecord(error)) return { type: 'error', message: String(error) }
  const inner = isRecord(error.cause) ? error.cause : error
  const type = text(error.code) ?? text(inner.code) ?? text(error.name) ?? 'error'
  return { type, message: text(error.message) ?? text(inner.message) ?? '' }
}

/** Describes an error of a client library, which has the HTTP status and the provider's own error. */
export function describeClientError(error: unknown): CallError {
  if (!isRecord(error)) return describeRequestError(error)
  const inner = isRecord(error.error) ? error.error : {}
  const nested = isRecord(inner.error) ? inner.error : inner
  const status = typeof error.status === 'number' ? String(error.status) : undefined
  const type = text(error.code) ?? text(nested.type) ?? text(error.type) ?? status
  if (type === undefined) return describeRequestError(error)
  return { type, message: text(nested.message) ?? text(error.message) ?? '' }
}

/** Not the numeric codes that some errors have. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
