import { isObject, toText } from '../json-value.ts'

/** True when the host gave the request up. */
export function isAbort(error: unknown): boolean {
  if (!isObject(error)) return false
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

/** A failed request by the code that people search for: ECONNREFUSED, UND_ERR_SOCKET, AbortError. */
export function describeFailure(error: unknown): { type: string; message: string } {
  if (!isObject(error)) return { type: 'error', message: String(error) }
  const inner = isObject(error.cause) ? error.cause : error
  const type = toText(error.code) ?? toText(inner.code) ?? toText(error.name) ?? 'error'
  const message = toText(error.message) ?? toText(inner.message) ?? ''
  return { type, message }
}
