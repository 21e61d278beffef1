import { Buffer } from 'node:buffer'

/** Decodes a content encoding, at once or as a stream. */
export type Decoding = {
  decode(bytes: Uint8Array): Uint8Array
  createStream(): import('node:zlib').Unzip
}

/** Loaded on demand. */
function zlib() {
  return process.getBuiltinModule('node:zlib')
}

/** Also decodes a body that ends too early. */
function lenient() {
  const { Z_SYNC_FLUSH: flush } = zlib().constants
  return { flush, finishFlush: flush }
}

function lenientBrotli() {
  const { BROTLI_OPERATION_FLUSH: flush } = zlib().constants
  return { flush, finishFlush: flush }
}

const decodings = new Map<string, Decoding>([
  [
    'gzip',
    {
      decode: (bytes) => zlib().unzipSync(bytes, lenient()),
      createStream: () => zlib().createGunzip(lenient()),
    },
  ],
  ['deflate', { decode: inflateAny, createStream: () => zlib().createInflate(lenient()) }],
  [
    'br',
    {
      decode: (bytes) => zlib().brotliDecompressSync(bytes, lenientBrotli()),
      createStream: () => zlib().createBrotliDecompress(lenientBrotli()),
    },
  ],
])

/** Undefined if the body is not encoded, null if the encoding is unknown. */
export function decodingOf(contentEncoding: string | undefined): Decoding | undefined | null {
  const word = contentEncoding?.trim().toLowerCase()
  if (word === undefined || word === '' || word === 'identity') return undefined
  return decodings.get(word === 'x-gzip' ? 'gzip' : word) ?? null
}

/** Some servers send deflate without the zlib header. */
function inflateAny(bytes: Uint8Array): Uint8Array {
  const isWrapped = (bytes[0]! & 0x0f) === 8
  return isWrapped ? zlib().inflateSync(bytes, lenient()) : zlib().inflateRawSync(bytes, lenient())
}

/**
 * Decodes a copy of a body while it arrives. When the body ends, the rest is decoded synchronously, because the host may
 * look at the session as soon as it has the response.
 */
export class StreamDecoder {
  readonly #chunks: Uint8Array[] = []
  readonly #stream: ReturnType<Decoding['createStream']>
  readonly #onBytes: (bytes: Uint8Array, atMs: number) => void
  readonly #decoding: Decoding
  /** Arrival times of the chunks that are not decoded yet. */
  readonly #times: number[] = []
  #decodedBytes = 0
  #isEnded = false

  constructor(decoding: Decoding, onBytes: (bytes: Uint8Array, atMs: number) => void) {
    this.#decoding = decoding
    this.#onBytes = onBytes
    this.#stream = decoding.createStream()
    this.#stream.on('data', (bytes: Uint8Array) => this.#emit(bytes))
    // Decoding again in `end` reports it.
    this.#stream.on('error', () => (this.#isEnded = true))
  }

  add(chunk: Uint8Array, atMs: number): void {
    this.#chunks.push(chunk)
    this.#times.push(atMs)
    this.#stream.write(chunk, () => this.#times.shift())
  }

  close(): void {
    this.#isEnded = true
    this.#stream.destroy()
  }

  end(atMs: number): void {
    this.close()
    if (this.#chunks.length === 0) return
    const rest = this.#decoding.decode(Buffer.concat(this.#chunks)).subarray(this.#decodedBytes)
    if (rest.byteLength > 0) this.#onBytes(rest, atMs)
  }

  #emit(bytes: Uint8Array): void {
    if (this.#isEnded) return
    this.#decodedBytes += bytes.byteLength
    this.#onBytes(bytes, this.#times[0] ?? performance.now())
  }
}
