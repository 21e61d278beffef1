import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

type Received = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Buffer
}

/** A JSON body, or a function that writes the response. */
type Handler = object | ((response: ServerResponse, received: Received) => void | Promise<void>)

export type FakeServer = {
  endpoint: string
  /** The requests, in order. */
  received: Received[]
}

/** Starts a server with the given handlers, by "GET /path". It stops with the test. */
export async function startFakeServer(handlers: { [route: string]: Handler }): Promise<FakeServer> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void handle(request, response)
  })
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const current: Received = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: await buffer(request),
    }
    received.push(current)
    const handler = handlers[`${current.method} ${current.path}`]
    if (handler === undefined) return sendError(response, 404, 'NOT_FOUND', `There is no ${current.path}.`)
    if (typeof handler === 'function') return handler(response, current)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(handler))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return { endpoint: `http://127.0.0.1:${address.port}`, received }
}

/** Responds like the server with an error. */
export function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { code, message } }))
}
