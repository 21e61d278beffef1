import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import type { LiveFeed, LiveScope } from './live-feed.ts'

/** Proxies close connections that are silent for a minute. */
const HEARTBEAT_MS = 15_000

/**
 * Responds with the events of a project or session, until the viewer disconnects or `isAllowed` says that it may no longer
 * see them. Written to the connection directly: streams of Hono cost ten times as much per event.
 */
export function streamEvents(
  context: Context,
  live: LiveFeed,
  { isAllowed, ...scope }: LiveScope & { isAllowed: () => boolean },
): Response {
  const { outgoing } = context.env as { outgoing: ServerResponse }
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  if (context.req.method === 'HEAD') outgoing.end()
  else outgoing.write(': connected\n\n')
  const viewer = live.subscribe({ ...scope, lastEventId: context.req.header('last-event-id') }, (chunk) =>
    outgoing.write(chunk),
  )
  const heartbeat = setInterval(() => {
    if (!isAllowed()) outgoing.end()
    else if (!outgoing.writableNeedDrain) outgoing.write(': alive\n\n')
  }, HEARTBEAT_MS)
  outgoing.on('drain', () => viewer.resume())
  outgoing.once('close', () => {
    clearInterval(heartbeat)
    viewer.end()
  })
  return RESPONSE_ALREADY_SENT
}
