import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { spansToOtlpJson, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import { hex } from './otlp.ts'
import { seededRandom } from './seeded-random.ts'
import { forgetPeak, memoryOf, SpawnedServer } from './spawned-server.ts'
import { Traffic } from './traffic.ts'

const MB = 1024 * 1024
const MAX_RESIDENT_MB = 1_500

let server: SpawnedServer
const sockets: Socket[] = []

beforeAll(async () => {
  server = await SpawnedServer.create()
  await server.start()
})
afterAll(() => server.remove())
beforeEach(() => forgetPeak(server.pid))
afterEach(({ task }) => {
  for (const socket of sockets.splice(0)) socket.destroy()
  const { peakMb, nowMb } = memoryOf(server.pid)
  console.log(`${peakMb} MB at most, ${nowMb} MB now: ${task.name}`)
  expectBounded(peakMb)
})

function expectBounded(peakMb: number): void {
  expect(peakMb).toBeLessThan(MAX_RESIDENT_MB)
  expect(server.unexpectedLines()).toEqual([])
}

function open(text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
      socket.write(text, () => resolve(socket)),
    )
    socket.on('error', reject)
    sockets.push(socket)
  })
}

const head = (length: number) =>
  `POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

async function post(spans: Span[]): Promise<number> {
  const response = await server.request('/v1/traces', {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(spansToOtlpProtobuf(spans)),
  })
  await response.arrayBuffer()
  return response.status
}

test('bodies that arrive byte by byte, and large ones that stall, do not block others', async () => {
  const id = hex(16)
  const body = JSON.stringify(spansToOtlpJson([spanWith({ traceId: id, spanId: hex(8) })]))
  const slow = await Promise.all(Array.from({ length: 50 }, () => open(head(body.length))))
  // Together more than the server holds at once: the last of them are refused, the others wait for ever.
  for (const [count, megabytes] of [
    [12, 30],
    [6, 5],
  ] as const) {
    for (let upload = 0; upload < count; upload++) {
      const socket = await open(head(40 * MB))
      socket.removeAllListeners('error').on('error', () => socket.destroy())
      await new Promise((resolve) => socket.write(Buffer.alloc(megabytes * MB, 0x20), resolve))
    }
  }
  for (const socket of slow) socket.setNoDelay()
  for (const character of body.slice(0, 40))
    await Promise.all(slow.map((socket) => new Promise((resolve) => socket.write(character, resolve))))

  for (let request = 0; request < 20; request++) {
    expect(
      await post([spanWith({ traceId: hex(16), spanId: hex(8), attributes: { text: 'x'.repeat(2 * MB) } })]),
    ).toBe(200)
  }

  const answers = slow.map(
    (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
  )
  for (const socket of slow) socket.write(body.slice(40))
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200/)
  expect((await server.session(id)).steps).toHaveLength(1)
})

test('viewers that never read use little memory while 20,000 spans arrive, and others see every event', async () => {
  const [traceId, otherId] = [hex(16), hex(16)]
  await post([spanWith({ traceId, spanId: hex(8) })])
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
  const deaf = await Promise.all([
    ...Array.from({ length: 20 }, () => open(get('/api/live'))),
    ...Array.from({ length: 20 }, () => open(get(`/api/sessions/${traceId}/live`))),
  ])
  for (const socket of deaf) socket.pause()
  const viewer = await fetch(`${server.url}/api/sessions/${otherId}/live`)

  const long = 'an argument or an answer that goes on for a while, '.repeat(20)
  const batch = () =>
    Array.from({ length: 100 }, () =>
      spanWith({
        traceId,
        spanId: hex(8),
        name: 'chat gpt-4o',
        attributes: { 'gen_ai.operation.name': 'chat', 'input.value': long, 'output.value': long },
      }),
    )
  for (let sent = 0; sent < 200; sent += 4)
    expect(await Promise.all(Array.from({ length: 4 }, () => post(batch())))).toEqual([200, 200, 200, 200])
  await post([spanWith({ traceId: otherId, spanId: 'abcdabcdabcdabcd' })])

  expect(await readUntil(viewer, 'abcdabcdabcdabcd')).toContain('event: step')
  const { session, steps } = await server.session(traceId)
  expect([session.stepCount, steps.length]).toEqual([20_001, 20_001])
  // Once they read, they are told that they missed something.
  deaf[0]!.resume()
  await expect.poll(() => wasReset(deaf[0]!)).toBe(true)
})

test('30 readers of a growing session see everything that was acknowledged before they asked', async () => {
  const traceId = hex(16)
  const root = hex(8)
  let acknowledged = 0
  const send = async (count: number) => {
    const spans = Array.from({ length: count }, () =>
      spanWith({
        traceId,
        spanId: hex(8),
        parentSpanId: root,
        attributes: { 'input.value': 'i'.repeat(500) },
      }),
    )
    expect(await post(spans)).toBe(200)
    acknowledged += count
  }
  for (let sent = 0; sent < 4; sent++) await send(250)

  const readers = Array.from({ length: 30 }, async () => {
    const expected = acknowledged
    const { steps } = await server.session(traceId, 'payloads=first-screen')
    expect(steps.length).toBeGreaterThanOrEqual(expected)
    expect(new Set(steps.map((step) => step.id)).size).toBe(steps.length)
    await send(5)
  })
  await Promise.all(readers)

  expect((await server.session(traceId)).steps).toHaveLength(acknowledged)
}, 240_000)

test('the list responds while the server ingests at full load', async () => {
  const traffic = new Traffic({
    url: server.url,
    random: seededRandom(3),
    connections: 12,
    maxSessions: 150,
  })
  traffic.start()
  for (let read = 0; read < 8; read++) {
    const response = await server.request('/api/sessions?limit=50')
    await response.arrayBuffer()
    expect(response.status).toBe(200)
  }
  await traffic.finish()

  expect(traffic.unexpected).toEqual([])
  const sent = new Set(traffic.sessions.map((session) => session.id))
  const listed = (await server.allSessions()).filter((session) => sent.has(session.id))
  expect(listed.map((session) => session.id).sort()).toEqual(
    traffic.sessions.map((session) => session.id).sort(),
  )
  expect(listed.every((session) => session.stepCount === 20)).toBe(true)
}, 240_000)

async function readUntil(response: Response, mark: string): Promise<string> {
  let text = ''
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk).toString()
    if (text.includes(mark)) return text
  }
  return text
}

const received = new WeakMap<Socket, string>()

function wasReset(socket: Socket): boolean {
  if (!received.has(socket)) {
    received.set(socket, '')
    socket.on('data', (data) =>
      received.set(socket, (received.get(socket)! + data.toString()).slice(-4 * MB)),
    )
  }
  return received.get(socket)!.includes('event: reset')
}
