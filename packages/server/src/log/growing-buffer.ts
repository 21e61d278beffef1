import type { EncodedText } from './encoded-text.ts'

/** Longer texts are measured before they are written, because room for three times their length is a lot. */
const MAX_GUESSED_LENGTH = 64 * 1024

/** A buffer that grows as bytes are appended. */
export class GrowingBuffer {
  bytes: Buffer
  /** The same bytes. It writes numbers faster than a Buffer does. */
  view: DataView
  length = 0

  constructor(capacity = 4096) {
    this.bytes = Buffer.allocUnsafe(capacity)
    this.view = viewOf(this.bytes)
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
    this.view = viewOf(grown)
  }

  writeVarint(value: number): void {
    this.reserve(9)
    let rest = value
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.bytes[this.length++] = rest
  }

  writeByte(byte: number): void {
    this.reserve(1)
    this.bytes[this.length++] = byte
  }

  /** Writes the bytes of a text, without its length. */
  writeText(text: string | EncodedText): void {
    if (typeof text !== 'string') return this.#copy(text)
    this.reserve(text.length * 3)
    this.length += this.bytes.write(text, this.length, 'utf8')
  }

  writeBytes(bytes: Buffer): void {
    this.reserve(bytes.length)
    this.length += bytes.copy(this.bytes, this.length)
  }

  /** Writes ClickHouse's String: its length in bytes, then the bytes. */
  writeString(text: string): void {
    if (text === '') return this.writeByte(0)
    if (text.length < 40) return this.#writeShortString(text)
    if (text.length > MAX_GUESSED_LENGTH) return this.#writeUtf8(text)
    // Measuring takes longer than writing. Most text is ASCII, so its length is mostly the number of bytes.
    this.reserve(text.length * 3 + 3)
    const guessed = this.length + varintBytes(text.length)
    const size = this.bytes.write(text, guessed, 'utf8')
    const start = this.length + varintBytes(size)
    if (start !== guessed) this.bytes.copyWithin(start, guessed, guessed + size)
    this.writeVarint(size)
    this.length = start + size
  }

  /** As `writeString`, for a text that is UTF-8 already. */
  writeEncoded(text: EncodedText): void {
    this.writeVarint(text.end - text.start)
    this.#copy(text)
  }

  #copy({ memory, start, end }: EncodedText): void {
    this.reserve(end - start)
    this.length += memory.copy(this.bytes, this.length, start, end)
  }

  /** Short strings are mostly ASCII, and a loop copies those faster than a call into the runtime. */
  #writeShortString(text: string): void {
    this.reserve(text.length * 3 + 1)
    const start = this.length + 1
    const { bytes } = this
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return this.#writeUtf8(text)
      bytes[start + index] = code
    }
    bytes[this.length] = text.length
    this.length = start + text.length
  }

  #writeUtf8(text: string): void {
    const size = Buffer.byteLength(text)
    this.writeVarint(size)
    this.reserve(size)
    this.length += this.bytes.write(text, this.length, size, 'utf8')
  }

  /** Remembers the length. The returned function truncates the buffer to it. */
  mark(): () => void {
    const { length } = this
    return () => {
      this.length = length
    }
  }

  contents(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}

/** The bytes of a length below 2^21. */
function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : 3
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
