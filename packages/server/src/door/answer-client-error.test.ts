import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClientErrorHandler } from './answer-client-error.ts'
import { setDeadline } from './refuse-request.ts'

const HEADERS_TIMEOUT_MS = 300
const ARRIVAL_MS = 300

const server = createServer(
  { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 50, requestTimeout: 0 },
  (request, response) => {
    setDeadline(request, response, ARRIVAL_MS)
    if (request.url === '/stalls') stall()
    request.resume()
    request.on('end', () => response.end('complete'))
  },
)
server.on('clientError', createClientErrorHandler(HEADERS_TIMEOUT_MS))
let port = 0
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as { port: number })
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

/** Computes for longer than a head or a body may take. */
function stall(): void {
  const startedMs = performance.now()
  while (performance.now() - startedMs < 1_100);
}

function send(words: string): { answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.write(words)
  return { answer: text(socket) }
}

// These come first: a stall is remembered for as long as a head may take.
test('a head that the client sends too slowly is answered with 408', async () => {
  expect(await send('POST /v1/traces HTTP/1.1\r\nhost: local').answer).toBe(
    'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n',
  )
})

test('a body that the client sends too slowly is answered with 408', async () => {
  const { answer } = send('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\na')
  expect(await answer).toMatch(/^HTTP\/1\.1 408[^]*REQUEST_TOO_SLOW/)
})

test('what is no request is answered with 400, and a head that is too large with 431', async () => {
  expect(await send('nonsense\r\n\r\n').answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  const { answer } = send(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(32_000)}\r\n\r\n`)
  expect(await answer).toMatch(/^HTTP\/1\.1 431 /)
})

test('a head that this process did not read in time is answered with 503, which exporters retry', async () => {
  server.once('connection', stall)
  const { answer } = send('POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
  expect(await answer).toBe('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n')
})

test('a body that this process did not read in time is answered with 503', async () => {
  const { answer } = send('POST /stalls HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\na')
  expect(await answer).toMatch(/^HTTP\/1\.1 503[^]*retry-after: 1[^]*SERVER_BUSY/i)
})
