import type { IncomingMessage, ServerResponse } from 'node:http'
import { KnownError, toErrorResponse } from '../errors/known-error.ts'

/** How long a request may take to arrive: enough for 64 MB at 2 Mbit/s. */
const MAX_ARRIVAL_MS = 300_000

/** A backup is as large as the store, and uploads only as fast as the store inserts it. */
const PATH_WITHOUT_DEADLINE = '/api/restore'

/** Ends a request that takes too long to arrive. Node's own timeout is off because it would apply to all paths. */
export function setDeadline(
  request: IncomingMessage,
  response: ServerResponse,
  maxArrivalMs = MAX_ARRIVAL_MS,
): void {
  if (request.url?.replace(/\?.*$/, '') === PATH_WITHOUT_DEADLINE) return
  const timer = setTimeout(() => refuseSlow(request, response, maxArrivalMs), maxArrivalMs)
  const forget = () => clearTimeout(timer)
  request.once('end', forget)
  request.once('close', forget)
}

function refuseSlow(request: IncomingMessage, response: ServerResponse, maxArrivalMs: number): void {
  // It has arrived, but nobody read it to the end, as for live viewers, whose requests have no body.
  if (request.complete) return
  if (response.headersSent) return void request.destroy()
  const { status, body } = toErrorResponse(
    new KnownError(
      'REQUEST_TOO_SLOW',
      `The request did not arrive within ${maxArrivalMs / 1_000} seconds: send smaller batches.`,
    ),
  )
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(body), () => request.destroy())
}
