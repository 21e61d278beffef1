import type { ServerResponse } from 'node:http'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

type FetchHandler = (request: Request, bindings: HttpBindings | Http2Bindings) => Response | Promise<Response>

/**
 * Writes event streams to the socket directly. @hono/node-server chains a promise per chunk and frees none while the
 * client keeps up, which leaks 100 bytes per event for as long as a viewer stays.
 */
export function writeEventStreams(fetch: FetchHandler): FetchHandler {
  return async (request, bindings) => {
    const response = await fetch(request, bindings)
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isEvents || response.body === null) return response
    const { outgoing } = bindings as { outgoing: ServerResponse }
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.flushHeaders()
    void pump(response.body.getReader(), outgoing)
    return RESPONSE_ALREADY_SENT
  }
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: ServerResponse,
): Promise<void> {
  // Tells the producer that the viewer is gone.
  outgoing.once('close', () => void reader.cancel().catch(() => undefined))
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      if (!outgoing.write(next.value)) await drained(outgoing)
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.once('drain', done).once('close', done)
    if (outgoing.destroyed) done()
  })
}
