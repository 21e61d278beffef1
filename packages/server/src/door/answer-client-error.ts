import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { wasTooBusyToRead, watchStalls } from './stalls.ts'

type InFlight = { _httpMessage?: { _headerSent?: boolean } | null }

/**
 * Answers a request whose head could not be read, as Node does. But a head that was late because this process did not
 * read it is not the client's fault: exporters send again after 503, not after 408.
 */
export function createClientErrorHandler(
  headersTimeoutMs: number,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  watchStalls()
  return (error, socket) => {
    const isAnswered = (socket as InFlight)._httpMessage?._headerSent === true
    if (!socket.writable || isAnswered) return void socket.destroy(error)
    const status = statusOf(error.code, headersTimeoutMs)
    const retry = status === 503 ? 'Retry-After: 1\r\n' : ''
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${retry}Connection: close\r\n\r\n`
    socket.end(head, () => socket.destroy())
  }
}

function statusOf(code: string | undefined, headersTimeoutMs: number): number {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return wasTooBusyToRead(headersTimeoutMs) ? 503 : 408
    default:
      return 400
  }
}
