import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

/**
 * Responds with JSON on the connection itself. Hono makes a stream of it, and waits for its end with a timer: of 100 KB, that takes
 * one or two milliseconds. Headers that were set on the context are not sent, so it is only for routes without any.
 */
export function sendJson(context: Context, json: Buffer): Response {
  const headers = { 'content-type': 'application/json', 'content-length': String(json.length) }
  const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
  // A tool of coding agents asks the app without a connection.
  if (outgoing === undefined) return context.body(new Uint8Array(json), 200, headers)
  outgoing.writeHead(200, headers)
  outgoing.end(json)
  return RESPONSE_ALREADY_SENT
}
