/** A buffer that grows as bytes are appended. */
export class GrowingBuffer {
  bytes: Buffer
  length = 0

  constructor(capacity = 4096) {
    this.bytes = Buffer.allocUnsafe(capacity)
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
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

  /** Writes ClickHouse's String: its length in bytes, then the bytes. */
  writeString(text: string): void {
    if (text.length < 40) return this.#writeShortString(text)
    const size = Buffer.byteLength(text)
    this.writeVarint(size)
    this.reserve(size)
    this.bytes.write(text, this.length, size, 'utf8')
    this.length += size
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
