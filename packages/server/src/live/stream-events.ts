import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { KnownError } from '../errors/known-error.ts'

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000

type Subscription = { resume?: () => void; end: () => void }

/**
 * Responds with server-sent events, until the viewer disconnects or `isAllowed` says that it may no longer see them. Events
 * are written to the socket itself and end with the connection: streams of Hono cost ten times as much, and those of Node
 * write later, when nobody can tell any more how long it takes.
 */
export function streamEvents(
  context: Context,
  isAllowed: () => boolean,
  subscribe: (write: (chunk: Buffer) => boolean, end: () => void) => Subscription,
): Response {
  const { outgoing } = context.env as { outgoing: ServerResponse }
  const { socket } = outgoing
  if (socket === null)
    throw new KnownError('BAD_REQUEST', 'Events need a connection of their own: send no other request first.')
  outgoing.removeHeader('transfer-encoding')
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    connection: 'close',
  })
  if (context.req.method === 'HEAD') {
    outgoing.end()
    return RESPONSE_ALREADY_SENT
  }
  outgoing.flushHeaders()
  socket.write(': connected\n\n')
  const viewer = subscribe(
    (chunk) => socket.write(chunk),
    () => outgoing.end(),
  )
  const heartbeat = setInterval(() => {
    if (!isAllowed()) outgoing.end()
    else if (!socket.writableNeedDrain) socket.write(': alive\n\n')
  }, HEARTBEAT_MS)
  if (viewer.resume !== undefined) socket.on('drain', viewer.resume)
  socket.once('close', () => {
    clearInterval(heartbeat)
    viewer.end()
  })
  return RESPONSE_ALREADY_SENT
}
