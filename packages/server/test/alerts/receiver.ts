import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

export type Received = { path: string; headers: IncomingHttpHeaders; body: string; status: number | 'none' }

/** How the receiver answers: with a status, or never. */
export type Answer = number | 'none' | ((response: ServerResponse) => void)

export type Receiver = {
  url: string
  port: number
  received: Received[]
  /** The bodies that were accepted, parsed. */
  accepted(): Record<string, unknown>[]
  answer: Answer
  close(): Promise<void>
}

/** A real HTTP server that keeps what it gets. */
export async function startReceiver(host = '127.0.0.1', port = 0): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { answer } = receiver
      const status = typeof answer === 'function' ? 200 : answer
      received.push({ path: request.url ?? '', headers: request.headers, body, status })
      if (typeof answer === 'function') answer(response)
      else if (answer !== 'none') response.writeHead(answer).end(answer === 200 ? 'ok' : 'no')
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as { port: number }
  const receiver: Receiver = {
    url: `http://${host}:${address.port}/hook`,
    port: address.port,
    received,
    accepted: () =>
      received.filter(({ status }) => status === 200).map(({ body }) => JSON.parse(body) as never),
    answer: 200,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

export async function receiverForThisTest(host?: string, port?: number): Promise<Receiver> {
  const receiver = await startReceiver(host, port)
  onTestFinished(() => receiver.close())
  return receiver
}
