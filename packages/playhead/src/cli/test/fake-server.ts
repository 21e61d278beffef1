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

/** JSON, or a function that answers by itself. */
type Answer = object | ((response: ServerResponse, received: Received) => void | Promise<void>)

export type FakeServer = {
  endpoint: string
  /** What was asked, in order. */
  received: Received[]
}

/** A server that answers with what it is told, by "GET /path"; it ends with the test. */
export async function startFakeServer(answers: { [route: string]: Answer }): Promise<FakeServer> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const asked: Received = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: await buffer(request),
    }
    received.push(asked)
    const given = answers[`${asked.method} ${asked.path}`]
    if (given === undefined) return refuse(response, 404, 'NOT_FOUND', `There is no ${asked.path}.`)
    if (typeof given === 'function') return given(response, asked)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(given))
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

/** Answers as the server refuses. */
export function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { code, message } }))
}
