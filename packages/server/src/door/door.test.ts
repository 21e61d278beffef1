import { once } from 'node:events'
import { createServer } from 'node:http'
import { BlockList, connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { KnownError, toErrorResponse } from '../errors/known-error.ts'
import { createBodyBudget, openBudgetShare } from './body-budget.ts'
import {
  JSON_ARRIVAL_MS,
  MAX_PUBLIC_BODIES,
  MAX_PUBLIC_BODIES_PER_ADDRESS,
  PUBLIC_ARRIVAL_MS,
  SHARE_OF_ONE_CALLER,
  UNREAD_MS,
} from './body-limits.ts'
import { createRuleFinder } from './body-rules.ts'
import { createDoor } from './door.ts'
import { toRefusal } from './refuse-request.ts'

const trustedProxies = new BlockList()
trustedProxies.addAddress('127.0.0.1')
const site = { host: '127.0.0.1', port: 0, isTlsOn: false, publicUrl: undefined, trustedProxies }
const budget = createBodyBudget(1_000)
const sockets: Socket[] = []
const large = Buffer.alloc(64 * 1024 * 1024)

/** Two routes that take a body, from anyone and from who has the key. */
const findRule = createRuleFinder({
  'POST /public': { from: 'anyone', maxBytes: 100, arrivalMs: PUBLIC_ARRIVAL_MS },
  'POST /{project}/json': {
    from({ header, params }) {
      if (header('x-api-key') !== 'right') throw new KnownError('UNAUTHORIZED', 'This needs a key.')
      return params.project
    },
    maxBytes: 900,
    arrivalMs: JSON_ARRIVAL_MS,
  },
})
const enter = createDoor({
  site,
  isAuthOn: () => true,
  limits: { budget },
  destinationOf: () => ({
    findRule,
    async handle({ url }, response, { project, body }) {
      response.end(url === '/large' ? large : JSON.stringify({ project, body: body?.whole().toString() }))
    },
    describe: (error) => toRefusal(toErrorResponse(error as KnownError)),
  }),
})
const server = createServer({ requestTimeout: 0 }, (request, response) => void enter(request, response))

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close().closeAllConnections())
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Sends text and returns what the server has said so far. */
async function say(text: string): Promise<() => string> {
  let heard = ''
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.on('data', (chunk) => (heard += chunk.toString()))
  const requested = once(server, 'request')
  socket.write(text)
  await requested
  return () => heard
}

const stalled = (path: string, headers = '') =>
  say(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n${headers}\r\n{`)
const from = (address: string) => `x-forwarded-for: ${address}\r\n`

test.each([
  ['anyone', '/public', PUBLIC_ARRIVAL_MS],
  ['a known caller', '/p/json', JSON_ARRIVAL_MS],
])('the body of %s has a deadline', async (_, path, arrivalMs) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const heard = await stalled(path, 'x-api-key: right\r\n')
  vi.advanceTimersByTime(arrivalMs - 1)
  expect(heard()).toBe('')
  vi.advanceTimersByTime(1)
  vi.useRealTimers()
  await expect.poll(heard).toMatch(/^HTTP\/1\.1 408[^]*REQUEST_TOO_SLOW/)
  await expect.poll(() => budget.bytesInFlight).toBe(0)
})

test('one more body from an address takes the place of its oldest; other addresses keep theirs', async () => {
  const other = await stalled('/public', from('10.0.0.2'))
  const own: (() => string)[] = []
  for (let count = 0; count <= MAX_PUBLIC_BODIES_PER_ADDRESS; count++)
    own.push(await stalled('/public', from('10.0.0.1')))
  await expect.poll(own[0]!).toMatch(/^HTTP\/1\.1 503[^]*SERVER_BUSY/)
  expect([other, ...own.slice(1)].map((heard) => heard())).toEqual(Array(own.length).fill(''))
})

test('one more body than fit in all takes the place of the oldest of all, and a whole one is answered', async () => {
  const heard: (() => string)[] = []
  for (let count = 0; count < MAX_PUBLIC_BODIES; count++)
    heard.push(await stalled('/public', from(`10.0.${count % 200}.${Math.floor(count / 200)}`)))
  const answered = await say(
    `POST /public HTTP/1.1\r\nhost: localhost\r\n${from('10.9.9.9')}content-length: 2\r\n\r\n{}`,
  )
  await expect.poll(answered).toMatch(/^HTTP\/1\.1 200[^]*\{"body":"\{\}"\}/)
  await expect.poll(heard[0]!).toMatch(/^HTTP\/1\.1 503/)
  expect(heard.slice(1).filter((one) => one() !== '')).toEqual([])
})

test('a known caller gets its project and body; others are refused before theirs arrives', async () => {
  const body = 'content-length: 2\r\n\r\n{}'
  const known = await say(`POST /shop/json HTTP/1.1\r\nhost: localhost\r\nx-api-key: right\r\n${body}`)
  await expect.poll(known).toMatch(/^HTTP\/1\.1 200[^]*\{"project":"shop","body":"\{\}"\}/)
  const unknown = await stalled('/shop/json')
  await expect.poll(unknown).toMatch(/^HTTP\/1\.1 401[^]*This needs a key/)
})

test('who does not read a response is disconnected when it makes no progress for a minute', async () => {
  const connected = once(server, 'connection') as Promise<[Socket]>
  const requested = say('GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n')
  sockets.at(-1)!.pause()
  const [[socket]] = await Promise.all([connected, requested])
  await expect.poll(() => socket.timeout).toBe(UNREAD_MS)
  socket.emit('timeout')
  await expect.poll(() => socket.destroyed).toBe(true)
})

test('one project or address holds at most its share of the budget', () => {
  const shared = createBodyBudget(1_000)
  const share = 1_000 * SHARE_OF_ONE_CALLER
  const first = openBudgetShare(shared, ['10.0.0.1', 'project "a"'])
  first.reserve(share)
  for (const holders of [
    ['10.0.0.1', 'project "b"'],
    ['10.0.0.2', 'project "a"'],
  ])
    expect(() => openBudgetShare(shared, holders).reserve(1)).toThrow('the most for one caller')
  const other = openBudgetShare(shared, ['10.0.0.2', 'project "b"'])
  other.reserve(1_000 - share)
  expect(() => other.reserve(1)).toThrow('Requests in progress already hold 1000 of 1000 bytes')
  first.release()
  other.release()
  expect(shared).toEqual({ maxBytes: 1_000, bytesInFlight: 0, held: new Map() })
})
