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
import type { Answer } from './answer.ts'
import type { FullReply } from './reply.ts'

const compressAll = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }
const createCompressor = { gzip: createGzip, br: createBrotliCompress, deflate: createDeflate }

/** Called with each piece of a body just before it is written. */
type OnWrite = (bytes: Uint8Array) => void

/** Answers at once. */
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

/** Streams an answer, event by event. */
export async function sendEvents(response: ServerResponse, answer: Answer, sending: Sending): Promise<void> {
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

/** Once what was written has left, so that the client has it before the connection goes. */
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
    // Lets the slice leave on its own.
    if (reply.sliceBytes !== undefined) await sleep(0)
  }
}

/** Room again, or nobody there any more. */
async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  controller.abort()
}

/** Compresses event by event, flushing after each, as servers that stream do. */
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
