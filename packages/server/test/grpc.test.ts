import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { status } from '@grpc/grpc-js'
import type { Session } from '@playhead/model'
import { decodeTraces, formatOf } from '../src/ingest/http/decode-otlp.ts'
import { ProtobufWriter } from '../src/ingest/otlp-protobuf/protobuf-writer.ts'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { otlpRequests, type RecordedRequest } from './fixtures.ts'
import { grpcSender } from './grpc-client.ts'
import { hex, tracesPayload } from './otlp.ts'
import { switchOff } from './switch-off.ts'
import { SpawnedServer } from './spawned-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const server = await startTestServer({ PLAYHEAD_GRPC_PORT: '0' })
const sender = grpcSender(server.grpcAddress!)
const zippingSender = grpcSender(server.grpcAddress!, { gzip: true })
afterAll(async () => {
  sender.close()
  zippingSender.close()
  await server.stop()
})

/** gRPC accepts only protobuf. */
function asProtobuf(request: RecordedRequest): RecordedRequest {
  if (request.contentType.includes('protobuf')) return request
  const body = spansToOtlpProtobuf(
    decodeTraces(request.body, formatOf(request.body, request.contentType)).items,
  )
  return { ...request, contentType: 'application/x-protobuf', body }
}

/** One finished span; an id of zeros makes it invalid. */
function batch(traceId: string, name = 'step'): Buffer {
  const payload = tracesPayload([{ name, endMs: 1_700_000_000_100 }])
  const { items: spans } = decodeTraces(Buffer.from(JSON.stringify(payload)), 'json')
  return spansToOtlpProtobuf(spans.map((span) => ({ ...span, traceId })))
}

function logRecord(traceId: string, text: string): Buffer {
  const writer = new ProtobufWriter()
  writer.message(1, () =>
    writer.message(2, () =>
      writer.message(2, () => {
        writer.fixed64(1, 1_700_000_000_050_000_000n)
        writer.text(3, 'WARN')
        writer.message(5, () => writer.text(1, text))
        writer.hex(9, traceId)
      }),
    ),
  )
  return writer.finish()
}

async function sessionsOf(project: string): Promise<unknown[]> {
  const sessions = await server.sessions(`project=${project}&limit=1000`)
  const whole = await Promise.all(
    sessions.map(({ id }) => server.session(id, `project=${project}&payloads=all`)),
  )
  return whole.map(({ session, steps }: Session) => ({ ...session, url: '', steps }))
}

test.each(['mastra-1.71', 'vercel-ai-v7', 'agentops-ts-0.1.0'])(
  '%s: sent by gRPC, plain or gzipped, the sessions are those that HTTP gives',
  async (folder) => {
    const requests = otlpRequests(folder)
      .filter(({ path }) => path.endsWith('/v1/traces'))
      .map(asProtobuf)
    const projects = ['http', 'grpc', 'gzip'].map((way) => `${folder.split('-')[0]}-${way}`)
    for (const id of projects) await server.services.registry.createProject({ id, name: id })

    for (const { path, contentType, body } of requests) {
      const [http, grpc, gzip] = projects.map((project) => ({ 'x-playhead-project': project }))
      const headers = { 'content-type': contentType, ...http! }
      const answer = await server.request(path, { method: 'POST', headers, body: new Uint8Array(body) })
      expect(answer.status).toBe(200)
      const expected = { body: Buffer.from(await answer.arrayBuffer()) }
      expect(await sender.send('trace', body, grpc)).toEqual(expected)
      expect(await zippingSender.send('trace', body, gzip)).toEqual(expected)
    }

    const [http, grpc, gzip] = await Promise.all(projects.map(sessionsOf))
    expect(http!.length).toBeGreaterThan(0)
    expect(grpc).toEqual(http)
    expect(gzip).toEqual(http)
  },
)

test('log records are attached to the step of their session', async () => {
  const traceId = hex(16)

  await zippingSender.send('logs', logRecord(traceId, 'almost out of money'))
  await sender.send('trace', batch(traceId))

  const [step] = (await server.session(traceId)).steps
  expect(step!.logs).toMatchObject([{ severity: 'WARN', offsetMs: 50, body: 'almost out of money' }])
})

test('metrics are accepted and dropped', async () => {
  expect(await sender.send('metrics', Buffer.from([1, 2, 3]))).toEqual({ body: Buffer.alloc(0) })
})

test('an invalid batch is refused, and an invalid span in a valid one is named', async () => {
  expect(await sender.send('trace', Buffer.from('not protobuf'))).toEqual({
    code: status.INVALID_ARGUMENT,
    details: expect.stringContaining('not valid OTLP protobuf') as string,
  })
  const traceId = hex(16)
  const noTrace = '00'.repeat(16)
  const answer = await sender.send('trace', Buffer.concat([batch(noTrace, 'lost'), batch(traceId)]))
  expect('body' in answer && answer.body.toString()).toContain('its trace id is all zeros')
  expect((await server.session(traceId)).steps).toHaveLength(1)
})

test('an unknown project is named, and nothing is stored elsewhere', async () => {
  const traceId = hex(16)

  expect(await sender.send('trace', batch(traceId), { 'x-playhead-project': 'nowhere' })).toEqual({
    code: status.NOT_FOUND,
    details: expect.stringContaining('There is no project "nowhere"') as string,
  })
  expect((await server.request(`/api/sessions/${traceId}`)).status).toBe(404)
})

test('with auth on, a caller without a key is refused before the body is read', async () => {
  const guarded = await startTestServer({
    PLAYHEAD_GRPC_PORT: '0',
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: 'correct horse',
    PLAYHEAD_MAX_BODY_MB: '1',
  })
  const guardedSender = grpcSender(guarded.grpcAddress!)
  try {
    const { registry } = guarded.services
    const { secret } = await registry.createKey({ project: 'default', name: 'x', scopes: ['ingest', 'read'] })
    const reading = await registry.createKey({ project: 'default', name: 'y', scopes: ['read'] })
    const traceId = hex(16)
    const send = (body: Buffer, headers?: Record<string, string>) =>
      guardedSender.send('trace', body, headers)

    expect(await send(batch(traceId))).toMatchObject({ code: status.UNAUTHENTICATED })
    expect(await send(batch(traceId), { authorization: 'Bearer ph_wrong' })).toEqual({
      code: status.UNAUTHENTICATED,
      details: 'This key is unknown or revoked. Create one with: playhead keys create',
    })
    expect(await send(batch(traceId), { 'x-api-key': reading.secret })).toMatchObject({
      code: status.PERMISSION_DENIED,
    })
    const headers = { authorization: `Bearer ${secret}` }
    expect((await guarded.request(`/api/sessions/${traceId}`, { headers })).status).toBe(404)
    expect(await send(batch(traceId), headers)).toEqual({ body: Buffer.alloc(0) })
    expect((await guarded.request(`/api/sessions/${traceId}`, { headers })).status).toBe(200)
    expect(await send(batch(hex(16), 'x'.repeat(1_100_000)), headers)).toEqual({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining('larger than the limit') as string,
    })
    expect(await send(batch(hex(16)), headers)).toEqual({ body: Buffer.alloc(0) })
    expect(guarded.services.bodyLimits.budget).toMatchObject({ bytesInFlight: 0, held: new Map() })
  } finally {
    guardedSender.close()
    await guarded.stop()
  }
})

/** Begun with the first test and looked at in the last one. */
const silent = connect(`http://${server.grpcAddress}`)
silent.on('error', () => {})

/** Opens a call and sends the beginning of its message. */
function openCall(session: ClientHttp2Session, beginning: Buffer, headers: Record<string, string> = {}) {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  stream.on('error', () => {})
  stream.resume()
  stream.write(beginning)
  return stream
}

test('a message counts against the budget as it arrives, and no longer once its sender is gone', async () => {
  const { budget } = server.services.bodyLimits
  const session = connect(`http://${server.grpcAddress}`)
  onTestFinished(() => session.destroy())
  const streams = Array.from({ length: 40 }, () => openCall(session, Buffer.alloc(1_000)))

  await expect.poll(() => budget.bytesInFlight).toBe(40_000)
  expect(await sender.send('trace', batch(hex(16)))).toEqual({ body: Buffer.alloc(0) })
  for (const stream of streams) stream.close()
  await expect.poll(() => budget.bytesInFlight).toBe(0)
})

test('a call without a key is refused from its headers and holds nothing', async () => {
  const { gate, bodyLimits } = server.services
  switchOff(gate, 'isAuthOn', true)
  const session = connect(`http://${server.grpcAddress}`)
  onTestFinished(() => session.destroy())
  for (let count = 0; count < 200; count++) {
    const stream = openCall(session, Buffer.alloc(100_000))
    const [answer] = (await once(stream, 'response')) as [Record<string, string>]
    expect(answer['grpc-status']).toBe(String(status.UNAUTHENTICATED))
    await once(stream, 'close')
  }
  expect(bodyLimits.budget).toMatchObject({ bytesInFlight: 0, held: new Map() })
})

test.each<[string, Buffer, Record<string, string>?]>([
  ['nothing', Buffer.alloc(0)],
  ['half a prefix', Buffer.from([0, 0])],
  ['less than it announces', Buffer.from([0, 0, 0, 0, 9, 1])],
  ['more than it announces', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
  ['an unknown flag', Buffer.from([7, 0, 0, 0, 0])],
  ['something compressed without an encoding', Buffer.from([1, 0, 0, 0, 1, 0])],
  ['something compressed that is not', Buffer.from([1, 0, 0, 0, 1, 0]), { 'grpc-encoding': 'gzip' }],
])('a call with %s is refused', async (_, bytes, headers = {}) => {
  const session = connect(`http://${server.grpcAddress}`)
  onTestFinished(() => session.destroy())
  const stream = openCall(session, bytes, headers)
  stream.end()
  const [answer] = (await once(stream, 'response')) as [Record<string, string>]
  expect(answer['grpc-status']).toBe(String(status.INVALID_ARGUMENT))
})

test('if the port is taken, only gRPC is off, and one line reports it', async () => {
  const taken = server.grpcAddress!.split(':')[1]!
  const second: TestServer = await startTestServer({ PLAYHEAD_GRPC_PORT: taken })
  try {
    expect(second.grpcAddress).toBeUndefined()
    expect(second.reports).toEqual([
      `OTLP/gRPC is off: port ${taken} on 127.0.0.1 cannot be used (EADDRINUSE). OTLP/HTTP works. Choose another port with PLAYHEAD_GRPC_PORT=4320, or turn it off with PLAYHEAD_GRPC_PORT=off.`,
    ])
    expect((await second.request('/healthz')).status).toBe(200)
  } finally {
    await second.stop()
  }
})

test('spans acknowledged over gRPC survive kill -9', async () => {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const spawned = await SpawnedServer.forThisTest({ PLAYHEAD_GRPC_PORT: String(port) })
  await spawned.start()
  const spawnedSender = grpcSender(`127.0.0.1:${port}`)
  const ids = Array.from({ length: 20 }, () => hex(16))

  const answers = await Promise.all(ids.map((id) => spawnedSender.send('trace', batch(id))))
  await spawned.end('SIGKILL')
  spawnedSender.close()
  await spawned.start()

  expect(answers).toEqual(ids.map(() => ({ body: Buffer.alloc(0) })))
  expect((await spawned.allSessions()).map(({ id }) => id).sort()).toEqual(ids.sort())
})

test('a connection without a call that has a key is closed after 20 seconds', async () => {
  await expect.poll(() => silent.closed || silent.destroyed).toBe(true)
})
