import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { LINGER_BYTES_PER_SECOND } from './body-limits.ts'
import { refuse, setDeadline } from './refuse-request.ts'

const DEADLINE_MS = 300_000

const server = createServer({ requestTimeout: 0 }, (request, response) => {
  setDeadline(request, response, DEADLINE_MS)
  if (request.url === '/refused')
    return refuse(request, response, { status: 401, headers: {}, body: Buffer.from('no') })
  if (request.method === 'GET') return void response.write('begin ')
  request.resume()
  request.on('end', () => response.end('complete'))
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Sends the first of two bytes of a body, then lets the deadline pass. */
async function sendHalf(path: string): Promise<{ socket: Socket; response: Promise<string> }> {
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  const response = text(socket)
  const requested = once(server, 'request')
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\na`)
  await requested
  vi.advanceTimersByTime(DEADLINE_MS)
  return { socket, response }
}

test('refuses a request that does not arrive in time, and says why', async () => {
  const { response } = await sendHalf('/v1/traces')
  expect(await response).toMatch(/^HTTP\/1\.1 408[^]*REQUEST_TOO_SLOW/)
})

test('does not limit the time of a response', async () => {
  const { port } = server.address() as { port: number }
  const requested = once(server, 'request')
  const response = await fetch(`http://127.0.0.1:${port}/api/live`)
  const [, outgoing] = (await requested) as [unknown, ServerResponse]
  vi.advanceTimersByTime(DEADLINE_MS)
  outgoing.end('end')
  expect(await response.text()).toBe('begin end')
})

test('reads only so much a second from all callers it refuses', async () => {
  const { port } = server.address() as { port: number }
  let read = 0
  const startedAtMs = performance.now()
  server.on('connection', (socket: Socket) => socket.on('close', () => (read += socket.bytesRead)))
  const attackers = Array.from({ length: 32 }, async () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /refused HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n\r\n')
    socket.write(Buffer.alloc(4_000_000))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401/)
    return socket
  })
  const sockets = await Promise.all(attackers)
  await pause(200)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => read).toBeGreaterThan(0)
  // Each would read 1 MB for itself. Before it can be paused, it reads some chunks of 64 KB.
  const seconds = (performance.now() - startedAtMs) / 1_000
  expect(read).toBeLessThan((2.5 + seconds) * LINGER_BYTES_PER_SECOND)
})
