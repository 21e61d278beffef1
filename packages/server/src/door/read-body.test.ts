import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  request as startRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toErrorResponse, KnownError } from '../errors/known-error.ts'
import { createBodyBudget, type BodyLimits } from './body-budget.ts'
import { withBody } from './read-body.ts'
import { discardRest } from './refuse-request.ts'

const MB = 1024 * 1024

let server: Server
let port: number
let limits: BodyLimits
let use: (body: Buffer) => Promise<void>
let thrown: unknown[]

beforeEach(async () => {
  limits = { maxBytes: 8 * MB, maxInflatedBytes: 32 * MB, budget: createBodyBudget(64 * MB) }
  use = async () => {}
  thrown = []
  server = createServer((request, response) => void answerRequest(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  if (limits.budget.bytesInFlight !== 0)
    throw new Error(`${limits.budget.bytesInFlight} bytes were not given back`)
})

async function answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await answer(request)
  response.writeHead(status, headers).end(JSON.stringify(body))
}

async function answer(
  request: IncomingMessage,
): Promise<{ status: number; headers: Record<string, string>; body: unknown }> {
  try {
    const body = await withBody(request, limits, async (received) => {
      const bytes = received.whole()
      await use(bytes)
      return describeBody(bytes)
    })
    return { status: 200, headers: {}, body }
  } catch (error) {
    discardRest(request)
    thrown.push(error)
    if (!(error instanceof KnownError)) throw error
    return toErrorResponse(error)
  }
}

function describeBody(bytes: Buffer): { length: number; hash: string } {
  return { length: bytes.length, hash: createHash('sha256').update(bytes).digest('hex') }
}

async function post(
  body: Buffer | Readable,
  headers: Record<string, string> = {},
): Promise<{ status: number; retryAfter: string | null; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
    method: 'POST',
    headers,
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : Readable.toWeb(body),
    duplex: 'half',
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  }
}

function refusal(status: number, code: string, message: string) {
  return { status, retryAfter: status === 503 ? '1' : null, body: { error: { code, message } } }
}

function accepted(bytes: Buffer) {
  return { status: 200, retryAfter: null, body: describeBody(bytes) }
}

/** Fast rather than small. */
function compressBrotli(bytes: Buffer): Buffer {
  return zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })
}

const small = Buffer.from('{"resourceSpans":[]}'.repeat(1000))
const large = randomBytes(3 * MB)

describe('bodies as they are sent', () => {
  test('with a length, in chunks, empty', async () => {
    expect(await post(small)).toEqual(accepted(small))
    expect(await post(large)).toEqual(accepted(large))
    expect(await post(Readable.from([small, large]))).toEqual(accepted(Buffer.concat([small, large])))
    expect(await post(Buffer.alloc(0))).toEqual(accepted(Buffer.alloc(0)))
    expect(await post(small, { 'content-encoding': 'identity' })).toEqual(accepted(small))
  })

  const encodings: [string, string, (bytes: Buffer) => Buffer][] = [
    ['gzip', 'gzip', zlib.gzipSync],
    ['gzip in capitals', ' GZIP', zlib.gzipSync],
    ['gzip under its old name', 'x-gzip', zlib.gzipSync],
    ['deflate', 'deflate', zlib.deflateSync],
    ['raw deflate', 'deflate', zlib.deflateRawSync],
    ['brotli', 'br', compressBrotli],
    ['zstd', 'zstd', zlib.zstdCompressSync],
  ]

  test.each(encodings)('with %s, small and large', async (_, encoding, compress) => {
    expect(await post(compress(small), { 'content-encoding': encoding })).toEqual(accepted(small))
    expect(await post(compress(large), { 'content-encoding': encoding })).toEqual(accepted(large))
    expect(await post(Readable.from([compress(large)]), { 'content-encoding': encoding })).toEqual(
      accepted(large),
    )
  })

  test('with a small gzip that expands a lot', async () => {
    const zeros = Buffer.alloc(30 * MB)
    expect(await post(zlib.gzipSync(zeros), { 'content-encoding': 'gzip' })).toEqual(accepted(zeros))
  })
})

describe('bodies that are refused', () => {
  const tooLong = refusal(
    413,
    'BODY_TOO_LARGE',
    'The body is larger than the limit of 8388608 bytes: send smaller batches.',
  )

  test('too long, with or without a content length', async () => {
    expect(await post(Buffer.alloc(9 * MB))).toEqual(tooLong)
    expect(await post(Readable.from(chunksOf(40)))).toEqual(tooLong)
    expect(await post(Readable.from(chunksOf(40)), { 'content-encoding': 'gzip' })).toEqual(tooLong)
  })

  function* chunksOf(megabytes: number): Generator<Buffer> {
    for (let index = 0; index < megabytes; index++) yield Buffer.alloc(MB, 1)
  }

  test.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', compressBrotli],
    ['zstd', zlib.zstdCompressSync],
  ])('a %s bomb, which is stopped at the limit', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(300 * MB))
    expect(bomb.length).toBeLessThan(MB)
    const before = process.memoryUsage().arrayBuffers
    expect(await post(bomb, { 'content-encoding': encoding })).toEqual(
      refusal(
        413,
        'BODY_TOO_LARGE',
        'The decompressed body is larger than the limit of 33554432 bytes: send smaller batches.',
      ),
    )
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MB)
  })

  test('a bomb under a low limit', async () => {
    limits.maxInflatedBytes = MB
    expect(await post(zlib.gzipSync(Buffer.alloc(2 * MB)), { 'content-encoding': 'gzip' })).toMatchObject({
      status: 413,
    })
  })

  const cutOff: [string, string, Buffer, string][] = [
    ['gzip', 'gzip', zlib.gzipSync(small).subarray(0, -10), 'unexpected end of file'],
    ['a large gzip', 'gzip', zlib.gzipSync(large).subarray(0, -10), 'unexpected end of file'],
    ['zstd', 'zstd', zlib.zstdCompressSync(small).subarray(0, -3), 'unexpected end of file'],
    ['a large zstd', 'zstd', zlib.zstdCompressSync(large).subarray(0, -3), 'unexpected end of file'],
    ['a large brotli', 'br', compressBrotli(large).subarray(0, -3), 'unexpected end of file'],
    ['deflate', 'deflate', zlib.deflateSync(small).subarray(0, 20), 'unexpected end of file'],
    ['something that is not gzip', 'gzip', small, 'incorrect header check'],
    ['something large that is not gzip', 'gzip', large, 'incorrect header check'],
    ['nothing at all', 'gzip', Buffer.alloc(0), 'unexpected end of file'],
  ]

  test('zstd that demands a window of 128 MB for a few bytes', async () => {
    const params = {
      [zlib.constants.ZSTD_c_windowLog]: 27,
      [zlib.constants.ZSTD_c_enableLongDistanceMatching]: 1,
    }
    const compressor = zlib.createZstdCompress({ params })
    compressor.end(small)
    const body = Buffer.concat(await compressor.toArray())
    expect(await post(body, { 'content-encoding': 'zstd' })).toMatchObject({
      status: 400,
      body: { error: { code: 'OTLP_UNREADABLE' } },
    })
  })

  test.each(cutOff)('%s that cannot be decompressed', async (_, encoding, body, reason) => {
    expect(await post(body, { 'content-encoding': encoding })).toEqual(
      refusal(
        400,
        'OTLP_UNREADABLE',
        `The body cannot be decompressed as ${encoding}: ${reason}. It is truncated or has another encoding.`,
      ),
    )
  })

  test.each(['compress', 'gzip, gzip', 'snappy'])('the encoding %j', async (encoding) => {
    expect(await post(small, { 'content-encoding': encoding })).toEqual(
      refusal(
        415,
        'UNSUPPORTED_ENCODING',
        `The content encoding "${encoding}" is not supported: send gzip, deflate, br, zstd or none.`,
      ),
    )
  })

  test('after a refusal the connection accepts the next request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const statuses: (number | undefined)[] = []
    const sockets = new Set<unknown>()
    for (const [body, encoding] of [
      [Buffer.alloc(9 * MB), 'identity'],
      [small, 'snappy'],
      [large, 'gzip'],
      [small, 'identity'],
    ] as const) {
      const request = startRequest({ port, agent, method: 'POST', headers: { 'content-encoding': encoding } })
      request.end(body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      statuses.push(response.statusCode)
      sockets.add(response.socket)
      response.resume()
      await once(response, 'end')
    }
    agent.destroy()
    expect({ statuses, connections: sockets.size }).toEqual({
      statuses: [413, 415, 400, 200],
      connections: 1,
    })
  })
})

describe('clients that disconnect', () => {
  test.each([
    ['a plain body', ''],
    ['a compressed body', 'content-encoding: gzip\r\n'],
  ])('in the middle of %s', async (_, header) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${header}content-length: 100000\r\n\r\n${'x'.repeat(5000)}`)
    await expect.poll(() => limits.budget.bytesInFlight).toBeGreaterThan(0)
    expect(limits.budget.bytesInFlight).toBe(5000)
    socket.destroy()
    await expect.poll(() => thrown.length).toBe(1)
    expect(thrown).toEqual([
      new KnownError('BAD_REQUEST', 'The client closed the connection after 5000 bytes of its body.'),
    ])
  })

  test('in the middle of an invalid chunk', async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense')
    await expect.poll(() => thrown.length).toBe(1)
    expect(thrown).toMatchObject([{ code: 'BAD_REQUEST' }])
    socket.destroy()
  })
})

describe('the bytes of all requests together', () => {
  test('are bounded: one more is told to retry, and succeeds once there is room', async () => {
    limits.budget = createBodyBudget(4 * MB)
    const finish = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    use = async () => {
      held.resolve()
      await finish.promise
    }
    const first = post(large)
    await held.promise
    expect(limits.budget.bytesInFlight).toBe(large.length)
    const second = await post(large)
    expect(second).toMatchObject({ status: 503, retryAfter: '1', body: { error: { code: 'SERVER_BUSY' } } })
    expect(limits.budget.bytesInFlight).toBe(large.length)
    finish.resolve()
    expect(await first).toEqual(accepted(large))
    expect(await post(large)).toEqual(accepted(large))
  })

  test('include the decompressed size', async () => {
    limits.budget = createBodyBudget(4 * MB)
    for (const inflated of [5 * MB, 20 * MB]) {
      expect(await post(zlib.gzipSync(Buffer.alloc(inflated)), { 'content-encoding': 'gzip' })).toMatchObject(
        {
          status: 503,
          body: { error: { code: 'SERVER_BUSY' } },
        },
      )
    }
  })

  test('are released if reading or using the body fails', async () => {
    use = async () => {
      throw new KnownError('DISK_FULL', 'There is no room.')
    }
    expect(await post(large)).toEqual(refusal(503, 'DISK_FULL', 'There is no room.'))
    expect(await post(Buffer.alloc(9 * MB))).toMatchObject({ status: 413 })
    expect(limits.budget.bytesInFlight).toBe(0)
  })
})
