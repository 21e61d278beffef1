/** Writes protobuf's wire format into a growing buffer. Callers omit default values. */
export class ProtobufWriter {
  buffer = Buffer.allocUnsafe(1024)
  position = 0

  varint(field: number, value: number): void {
    this.tag(field, 0)
    this.rawVarint(value)
  }

  /** Negative numbers take ten bytes, in two's complement. */
  int64(field: number, value: number): void {
    this.tag(field, 0)
    if (value >= 0) return this.rawVarint(value)
    let rest = BigInt.asUintN(64, BigInt(value))
    this.reserve(10)
    for (; rest > 127n; rest >>= 7n) this.buffer[this.position++] = Number(rest & 127n) | 128
    this.buffer[this.position++] = Number(rest)
  }

  fixed32(field: number, value: number): void {
    this.tag(field, 5)
    this.reserve(4)
    this.position = this.buffer.writeUInt32LE(value, this.position)
  }

  fixed64(field: number, value: bigint): void {
    this.tag(field, 1)
    this.reserve(8)
    this.position = this.buffer.writeBigUInt64LE(value, this.position)
  }

  double(field: number, value: number): void {
    this.tag(field, 1)
    this.reserve(8)
    this.position = this.buffer.writeDoubleLE(value, this.position)
  }

  text(field: number, value: string): void {
    this.encoded(field, value, 'utf8')
  }

  hex(field: number, value: string): void {
    this.encoded(field, value, 'hex')
  }

  message(field: number, write: () => void): void {
    this.tag(field, 2)
    const start = this.position
    write()
    const length = this.position - start
    const prefixLength = varintLength(length)
    this.reserve(prefixLength)
    this.buffer.copyWithin(start + prefixLength, start, this.position)
    this.position = start
    this.rawVarint(length)
    this.position += length
  }

  finish(): Buffer {
    return this.buffer.subarray(0, this.position)
  }

  tag(field: number, wireType: number): void {
    this.rawVarint(field * 8 + wireType)
  }

  encoded(field: number, value: string, encoding: 'utf8' | 'hex'): void {
    const length = Buffer.byteLength(value, encoding)
    this.tag(field, 2)
    this.rawVarint(length)
    this.reserve(length)
    this.position += this.buffer.write(value, this.position, encoding)
  }

  rawVarint(value: number): void {
    this.reserve(10)
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) this.buffer[this.position++] = (rest % 128) | 128
    this.buffer[this.position++] = rest
  }

  reserve(bytes: number): void {
    if (this.position + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, this.position + bytes))
    this.buffer.copy(larger, 0, 0, this.position)
    this.buffer = larger
  }
}

function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++
  return length
}
