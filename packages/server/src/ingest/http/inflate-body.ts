import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { KnownError } from '../../errors/known-error.ts'
import type { BudgetShare } from '../body-budget.ts'
import { MAX_SYNC_INFLATE_BYTES, MAX_SYNC_INFLATED_BYTES } from '../limits.ts'

/** One content encoding. */
export type Inflater = {
  name: string
  atOnce: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer
  stream: (options: { chunkSize: number }) => Transform
}

const gzip: Inflater = { name: 'gzip', atOnce: zlib.gunzipSync, stream: zlib.createGunzip }
const deflate: Inflater = { name: 'deflate', atOnce: zlib.inflateSync, stream: zlib.createInflate }
const rawDeflate: Inflater = { name: 'deflate', atOnce: zlib.inflateRawSync, stream: zlib.createInflateRaw }
const brotli: Inflater = {
  name: 'br',
  atOnce: zlib.brotliDecompressSync,
  stream: zlib.createBrotliDecompress,
}

/** A frame may ask for a window of 128 MB before it has said anything; level 19 and below ask for 8. */
const zstdOptions = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 24 } }
const zstd: Inflater = {
  name: 'zstd',
  atOnce: (bytes, options) => zlib.zstdDecompressSync(bytes, { ...options, ...zstdOptions }),
  stream: (options) => zlib.createZstdDecompress({ ...options, ...zstdOptions }),
}

const inflaters: ReadonlyMap<string, Inflater | null> = new Map([
  ['', null],
  ['identity', null],
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', brotli],
  ['zstd', zstd],
])

/** What undoes a content encoding; null when there is nothing to undo. */
export function findInflater(contentEncoding = ''): Inflater | null {
  const encoding = contentEncoding.trim().toLowerCase()
  const inflater = inflaters.get(encoding)
  if (inflater !== undefined) return inflater
  throw new KnownError(
    'UNSUPPORTED_ENCODING',
    `The content encoding ${JSON.stringify(encoding.slice(0, 100))} is unknown: send gzip, deflate, br, zstd or none.`,
  )
}

type InflateLimits = { maxInflatedBytes: number; share: BudgetShare }

/** Inflates a body, and stops at the limit however little was sent. */
export async function inflateBody(bytes: Buffer, encoding: Inflater, limits: InflateLimits): Promise<Buffer> {
  const inflater = encoding === deflate && !hasZlibHeader(bytes) ? rawDeflate : encoding
  try {
    const body = bytes.length > MAX_SYNC_INFLATE_BYTES ? null : inflateAtOnce(bytes, inflater, limits)
    return body ?? (await inflateStream(bytes, inflater, limits))
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'OTLP_UNREADABLE',
      `The body is said to be ${inflater.name} and cannot be inflated: ${describe(error)}. It is cut off or something else.`,
      { cause: error },
    )
  }
}

/** Null when the body grows beyond what may hold up other requests. */
function inflateAtOnce(bytes: Buffer, inflater: Inflater, limits: InflateLimits): Buffer | null {
  const maxOutputLength = Math.min(limits.maxInflatedBytes, MAX_SYNC_INFLATED_BYTES)
  try {
    const body = inflater.atOnce(bytes, { maxOutputLength })
    limits.share.take(body.length)
    return body
  } catch (error) {
    if (!isTooLarge(error)) throw error
    return maxOutputLength < limits.maxInflatedBytes ? null : refuseInflation(limits.maxInflatedBytes)
  }
}

async function inflateStream(
  bytes: Buffer,
  inflater: Inflater,
  { maxInflatedBytes, share }: InflateLimits,
): Promise<Buffer> {
  const inflated: Buffer[] = []
  let inflatedBytes = 0
  await pipeline(
    [bytes],
    inflater.stream({ chunkSize: 64 * 1024 }),
    async (output: AsyncIterable<Buffer>) => {
      for await (const chunk of output) {
        inflatedBytes += chunk.length
        if (inflatedBytes > maxInflatedBytes) refuseInflation(maxInflatedBytes)
        share.take(chunk.length)
        inflated.push(chunk)
      }
    },
  )
  return joinChunks(inflated)
}

function refuseInflation(maxInflatedBytes: number): never {
  throw new KnownError(
    'BODY_TOO_LARGE',
    `The body inflates to more than ${maxInflatedBytes} bytes, the most that is taken: send smaller batches.`,
  )
}

/** "deflate" means zlib; some clients send what is inside of that. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** One buffer; without a copy where it was one already. */
export function joinChunks(chunks: Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}
