import type { ServerResponse } from 'node:http'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

type Answer = (request: Request, bindings: HttpBindings | Http2Bindings) => Response | Promise<Response>

/**
 * Writes event streams itself. @hono/node-server chains a promise to the last one for every piece it writes, and lets go
 * of none while the client keeps up: a viewer that stays costs 100 bytes an event for as long as it stays.
 */
export function writeEventStreams(answer: Answer): Answer {
  return async (request, bindings) => {
    const response = await answer(request, bindings)
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
  // Tells whoever makes the events that nobody reads them any more.
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
