import { Buffer } from 'node:buffer'

/** What can undo a content-encoding: all at once, and piece by piece. */
export type Decoding = {
  decode(bytes: Uint8Array): Uint8Array
  createStream(): import('node:zlib').Unzip
}

/** Loaded with the first body that is encoded. */
function zlib() {
  return process.getBuiltinModule('node:zlib')
}

/** What is there is decoded, also when the rest of it never came. */
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

/** Undefined for a body that is not encoded, null for one that can't be read here. */
export function decodingOf(contentEncoding: string | undefined): Decoding | undefined | null {
  const word = contentEncoding?.trim().toLowerCase()
  if (word === undefined || word === '' || word === 'identity') return undefined
  return decodings.get(word === 'x-gzip' ? 'gzip' : word) ?? null
}

/** Some servers send deflate without its header. */
function inflateAny(bytes: Uint8Array): Uint8Array {
  const isWrapped = (bytes[0]! & 0x0f) === 8
  return isWrapped ? zlib().inflateSync(bytes, lenient()) : zlib().inflateRawSync(bytes, lenient())
}

/**
 * Decodes a copy of a body while it arrives. What the decoder has not got to when the body ends is decoded at once: the
 * caller may look at the session as soon as it has its answer.
 */
export class StreamDecoder {
  readonly #chunks: Uint8Array[] = []
  readonly #stream: ReturnType<Decoding['createStream']>
  readonly #onBytes: (bytes: Uint8Array, atMs: number) => void
  readonly #decoding: Decoding
  /** When the chunks arrived that are still being decoded. */
  readonly #times: number[] = []
  #decodedBytes = 0
  #isEnded = false

  constructor(decoding: Decoding, onBytes: (bytes: Uint8Array, atMs: number) => void) {
    this.#decoding = decoding
    this.#onBytes = onBytes
    this.#stream = decoding.createStream()
    this.#stream.on('data', (bytes: Uint8Array) => this.#give(bytes))
    // Reported by what is done at the end.
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

  #give(bytes: Uint8Array): void {
    if (this.#isEnded) return
    this.#decodedBytes += bytes.byteLength
    this.#onBytes(bytes, this.#times[0] ?? performance.now())
  }
}
