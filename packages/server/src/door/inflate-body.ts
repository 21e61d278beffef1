import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { KnownError } from '../errors/known-error.ts'
import type { BudgetShare } from './body-budget.ts'
import { MAX_SYNC_INFLATE_BYTES, MAX_SYNC_INFLATED_BYTES } from './body-limits.ts'
import { ReceivedBody } from './received-body.ts'

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

/** A frame can demand a window of 128 MB up front; compression levels up to 19 need 8 MB. */
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

/** The decompressor for a content encoding; null if the body is not compressed. */
export function findInflater(contentEncoding = ''): Inflater | null {
  const encoding = contentEncoding.trim().toLowerCase()
  const inflater = inflaters.get(encoding)
  if (inflater !== undefined) return inflater
  throw new KnownError(
    'UNSUPPORTED_ENCODING',
    `The content encoding ${JSON.stringify(encoding.slice(0, 100))} is not supported: send gzip, deflate, br, zstd or none.`,
  )
}

type InflateLimits = { maxInflatedBytes: number; share: BudgetShare }

/** Decompresses a body, up to the limit. */
export async function inflateBody(bytes: Buffer, encoding: Inflater, limits: InflateLimits): Promise<Buffer> {
  const inflater = encoding === deflate && !hasZlibHeader(bytes) ? rawDeflate : encoding
  try {
    const body = bytes.length > MAX_SYNC_INFLATE_BYTES ? null : inflateAtOnce(bytes, inflater, limits)
    return body ?? (await inflateStream(bytes, inflater, limits))
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'OTLP_UNREADABLE',
      `The body cannot be decompressed as ${inflater.name}: ${describe(error)}. It is truncated or has another encoding.`,
      { cause: error },
    )
  }
}

/** Null if the body is too large to decompress without blocking other requests. */
function inflateAtOnce(bytes: Buffer, inflater: Inflater, limits: InflateLimits): Buffer | null {
  const maxOutputLength = Math.min(limits.maxInflatedBytes, MAX_SYNC_INFLATED_BYTES)
  try {
    const body = inflater.atOnce(bytes, { maxOutputLength })
    limits.share.reserve(body.length)
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
        share.reserve(chunk.length)
        inflated.push(chunk)
      }
    },
  )
  return new ReceivedBody(inflated).whole()
}

function refuseInflation(maxInflatedBytes: number): never {
  throw new KnownError(
    'BODY_TOO_LARGE',
    `The decompressed body is larger than the limit of ${maxInflatedBytes} bytes: send smaller batches.`,
  )
}

/** "deflate" means zlib; some clients send raw deflate. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
