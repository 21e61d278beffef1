import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateSync,
  gzipSync,
} from 'node:zlib'
import type { ProviderResponse } from './answer.ts'
import type { FullReply, ReplyError } from './reply.ts'
import type { ApiName } from './model-request.ts'

const compressAll = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }
const createCompressor = { gzip: createGzip, br: createBrotliCompress, deflate: createDeflate }

/** Called with each slice of a body before it is written. */
type OnWrite = (bytes: Uint8Array) => void

/** Sends the response in one piece. */
export async function sendWhole(
  response: ServerResponse,
  body: string,
  { reply, onWrite }: Sending,
): Promise<void> {
  const plain = Buffer.from(body)
  const bytes = reply.encoding === undefined ? plain : compressAll[reply.encoding](plain)
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', bytes.byteLength)
  if (reply.encoding !== undefined) response.setHeader('content-encoding', reply.encoding)
  await writeSliced(response, bytes, { reply, onWrite })
  response.end()
}

/** Streams the response, event by event. */
export async function sendEvents(
  response: ServerResponse,
  answer: ProviderResponse,
  sending: Sending,
): Promise<void> {
  const { reply } = sending
  response.setHeader('content-type', answer.eventType)
  response.setHeader('cache-control', 'no-cache')
  if (reply.encoding !== undefined) response.setHeader('content-encoding', reply.encoding)
  response.flushHeaders()
  const compress = createChunkCompressor(reply)
  for (const [index, event] of answer.events.entries()) {
    if (index === reply.cutAfterEvents) return cut(response)
    if (index > 0 && reply.chunkDelayMs !== undefined) await sleep(delayBefore(index, reply.chunkDelayMs))
    if (response.destroyed) return
    await writeSliced(response, await compress(event), sending)
  }
  const rest = await compress(null)
  if (rest.byteLength > 0) await writeSliced(response, rest, sending)
  response.end()
}

function delayBefore(index: number, delays: NonNullable<FullReply['chunkDelayMs']>): number {
  return typeof delays === 'number' ? delays : (delays[(index - 1) % delays.length] ?? delays[0])
}

export type Sending = { reply: FullReply; onWrite: OnWrite }

/** Closes the connection after flushing, so that the client receives everything before. */
async function cut(response: ServerResponse): Promise<void> {
  await new Promise((resolve) => response.write('', resolve))
  await sleep(5)
  response.destroy()
}

async function writeSliced(
  response: ServerResponse,
  bytes: Uint8Array,
  { reply, onWrite }: Sending,
): Promise<void> {
  const size = reply.sliceBytes ?? (bytes.byteLength || 1)
  for (let start = 0; start < bytes.byteLength; start += size) {
    if (response.destroyed) return
    const slice = bytes.subarray(start, start + size)
    onWrite(slice)
    if (!response.write(slice)) await drained(response)
    // Lets the slice go out as a packet of its own.
    if (reply.sliceBytes !== undefined) await sleep(0)
  }
}

/** Resolves when the buffer has drained or the client is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  controller.abort()
}

/** Compresses each event and flushes, as streaming servers do. */
function createChunkCompressor({ encoding }: FullReply): (text: string | null) => Promise<Uint8Array> {
  if (encoding === undefined) return async (text) => Buffer.from(text ?? '')
  const compressor = createCompressor[encoding]()
  const pieces: Buffer[] = []
  compressor.on('data', (piece: Buffer) => pieces.push(piece))
  return async (text) => {
    if (text === null) {
      compressor.end()
      await once(compressor, 'end')
    } else {
      compressor.write(text)
      await new Promise<void>((resolve) => compressor.flush(resolve))
    }
    return Buffer.concat(pieces.splice(0))
  }
}

const types = new Map([
  [400, ['invalid_request_error', 'INVALID_ARGUMENT']],
  [401, ['authentication_error', 'UNAUTHENTICATED']],
  [404, ['not_found_error', 'NOT_FOUND']],
  [429, ['rate_limit_error', 'RESOURCE_EXHAUSTED']],
  [500, ['api_error', 'INTERNAL']],
  [529, ['overloaded_error', 'UNAVAILABLE']],
])

/** Sends an error in the format of the API. */
export function sendError(response: ServerResponse, api: ApiName | undefined, error: ReplyError): void {
  const { status, message = `The script answers ${status}.`, retryAfterSeconds } = error
  const [word, googleWord] = types.get(status) ?? ['api_error', 'UNKNOWN']
  const type = error.type ?? word
  response.statusCode = status
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(bodyOf()))

  function bodyOf(): unknown {
    if (api === 'anthropic.messages')
      return { type: 'error', error: { type, message }, request_id: 'req_scripted' }
    if (api?.startsWith('gemini') === true)
      return { error: { code: status, message, status: error.type ?? googleWord } }
    if (api === 'ollama.chat') return { error: message }
    return { error: { message, type, param: null, code: error.type ?? null } }
  }
}
