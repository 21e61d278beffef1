/** Reads rows in ClickHouse's RowBinary format: exact numbers, and texts that need no parsing. */
export class RowBinaryReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  text(): string {
    return this.bytes().toString()
  }

  /** A text as UTF-8, which keeps all rows in memory. */
  bytes(): Buffer {
    const length = this.#varint()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** A UInt64 of less than 54 bits. */
  uint64(): number {
    this.#at += 8
    return Number(this.#bytes.readBigUInt64LE(this.#at - 8))
  }

  int64(): bigint {
    this.#at += 8
    return this.#bytes.readBigInt64LE(this.#at - 8)
  }

  float64(): number {
    this.#at += 8
    return this.#bytes.readDoubleLE(this.#at - 8)
  }

  nullable<Value>(read: () => Value): Value | null {
    return this.#bytes[this.#at++] === 1 ? null : read()
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
}
