import type { IncomingMessage, ServerResponse } from 'node:http'
import { KnownError, toErrorResponse, type ErrorResponse } from '../errors/known-error.ts'
import {
  LINGER_BYTES,
  LINGER_BYTES_PER_SECOND,
  LINGER_MS,
  MAX_DISCARDED_BYTES,
  MAX_IGNORED_BODY_BYTES,
  PUBLIC_ARRIVAL_MS,
} from './body-limits.ts'
import { wasTooBusyToRead, watchStalls } from './stalls.ts'

/** A response in the format of its route. */
export type Refusal = { status: number; headers: Record<string, string>; body: Buffer }

export function toRefusal({ status, headers, body }: ErrorResponse): Refusal {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  }
}

/**
 * Refuses a request. The rest of its body is read and dropped if it is small or the caller is one that we know, which
 * keeps the connection. Otherwise the connection is closed, once the client had time to see the response.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, isKnownCaller = false }: Refusal & { isKnownCaller?: boolean },
): void {
  if (response.headersSent || response.destroyed) return
  const isArriving = !request.complete && hasBody(request)
  const isKept = !isArriving || isKnownCaller || isSmall(request)
  response.writeHead(status, {
    ...headers,
    'content-length': body.length,
    ...(!isKept && { connection: 'close' }),
  })
  if (!isKept) {
    response.write(body)
    return linger(request, () => response.end())
  }
  if (isArriving) {
    discardRest(request)
    if (!isKnownCaller) setDeadline(request, response, PUBLIC_ARRIVAL_MS)
  }
  response.end(body)
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Whether it does no harm to ignore the body. */
export function isSmall({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length']) <= MAX_IGNORED_BODY_BYTES
}

/** Ends a request that takes too long to arrive. Node's own timeout is off because it would apply to all paths. */
export function setDeadline(request: IncomingMessage, response: ServerResponse, maxArrivalMs: number): void {
  watchStalls()
  const timer = setTimeout(() => {
    // It has arrived, but nobody read it to the end.
    if (request.complete) return
    endRequest(request, response, tooSlow(maxArrivalMs))
  }, maxArrivalMs)
  const forget = () => clearTimeout(timer)
  request.once('end', forget)
  request.once('close', forget)
}

/** Exporters send again after 503, not after 408, so the client is not blamed if this process did not read. */
function tooSlow(maxArrivalMs: number): KnownError {
  const seconds = `${maxArrivalMs / 1_000} seconds`
  if (wasTooBusyToRead(maxArrivalMs))
    return new KnownError(
      'SERVER_BUSY',
      `The server was too busy to read the request within ${seconds}: send it again.`,
    )
  return new KnownError(
    'REQUEST_TOO_SLOW',
    `The request did not arrive within ${seconds}: send it faster, or send less at once.`,
  )
}

/** Ends a request whose body is still arriving, together with its connection. */
export function endRequest(request: IncomingMessage, response: ServerResponse, error: KnownError): void {
  if (response.headersSent) return void request.destroy()
  const { status, headers, body } = toRefusal(toErrorResponse(error))
  response.writeHead(status, { ...headers, connection: 'close' })
  response.end(body, () => request.destroy())
}

/** Most clients read the response only after they have sent everything, so the rest is read and dropped, up to a limit. */
export function discardRest(request: IncomingMessage): void {
  let discarded = 0
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > MAX_DISCARDED_BYTES) request.destroy()
  })
  request.resume()
}

/** A socket that is closed while bytes are unread resets the connection, and the client may lose the response. */
function linger(request: IncomingMessage, close: () => void): void {
  let discarded = 0
  const timer = setTimeout(close, LINGER_MS)
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length
    lingered.add(chunk.length)
    if (discarded > LINGER_BYTES || lingered.isUsedUp) request.pause()
  })
  request.once('end', () => {
    clearTimeout(timer)
    close()
  })
  request.once('close', () => clearTimeout(timer))
  if (lingered.isUsedUp) request.pause()
  else request.resume()
}

/** What was read from callers that we don't know in this second, only to be dropped. */
class LingeredBytes {
  #bytes = 0
  #sinceMs = -Infinity

  add(bytes: number): void {
    const now = performance.now()
    if (now - this.#sinceMs > 1_000) {
      this.#sinceMs = now
      this.#bytes = 0
    }
    this.#bytes += bytes
  }

  get isUsedUp(): boolean {
    return this.#bytes > LINGER_BYTES_PER_SECOND && performance.now() - this.#sinceMs < 1_000
  }
}

const lingered = new LingeredBytes()
