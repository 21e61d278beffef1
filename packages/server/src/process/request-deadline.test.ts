import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setDeadline } from './request-deadline.ts'

const DEADLINE_MS = 100

const server = createServer({ requestTimeout: 0 }, (request, response) => {
  setDeadline(request, response, DEADLINE_MS)
  if (request.method === 'GET') {
    response.write('begin ')
    return void setTimeout(() => response.end('end'), 3 * DEADLINE_MS)
  }
  request.resume()
  request.on('end', () => response.end('whole'))
})
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

/** Sends a body of two bytes, the second one later than the deadline. */
async function sendSlowly(path: string): Promise<string> {
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\na`)
  setTimeout(() => socket.write('b'), 3 * DEADLINE_MS)
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return answer
}

test('a request that does not arrive in time is refused, and told why', async () => {
  const answer = await sendSlowly('/v1/traces')
  expect(answer).toMatch(/^HTTP\/1\.1 408/)
  expect(answer).toContain('REQUEST_TOO_SLOW')
})

test('a backup may take as long as it takes', async () => {
  expect(await sendSlowly('/api/restore?x=1')).toMatch(/^HTTP\/1\.1 200[^]*whole$/)
})

test('an answer may take as long as it takes', async () => {
  const { port } = server.address() as { port: number }
  const response = await fetch(`http://127.0.0.1:${port}/api/live`)
  expect(await response.text()).toBe('begin end')
})
