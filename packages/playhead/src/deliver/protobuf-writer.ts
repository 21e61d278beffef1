import { Buffer } from 'node:buffer'

/** Shorter texts are copied here; a call of `Buffer.write` costs more. */
const MAX_COPIED_LENGTH = 40
/** The most bytes that UTF-8 takes for one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3
/** The most bytes of tags and lengths before a text. */
const MAX_HEADER_BYTES = 32

/** Tags of the fields of AnyValue and KeyValue that `textAttribute` writes. */
const STRING_VALUE = 0x0a
const VALUE = 0x12

/** Writes protobuf's wire format. Callers pass tags, which are the number of a field and its wire type. */
export class ProtobufWriter {
  position = 0
  buffer: Buffer

  /** `buffer` is used until it is full, then a larger one. */
  constructor(buffer: Buffer) {
    this.buffer = buffer
  }

  /** Makes room for so many bytes. */
  reserve(bytes: number): void {
    const needed = this.position + bytes
    if (needed <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, needed))
    this.buffer.copy(larger, 0, 0, this.position)
    this.buffer = larger
  }

  /** Starts a message inside this one. `room` is left for its length, for `end`. */
  begin(tag: number, room: number): number {
    this.reserve(room + 1)
    this.buffer[this.position] = tag
    this.position += room + 1
    return this.position
  }

  end(start: number, room: number): void {
    const length = this.position - start
    const needed = varintLength(length)
    if (needed !== room) {
      this.reserve(needed)
      this.buffer.copyWithin(start - room + needed, start, this.position)
    }
    this.position = start - room
    this.#varint(length)
    this.position += length
  }

  /** An integer, in two's complement if it is negative. */
  integer(tag: number, value: number): void {
    this.reserve(11)
    this.buffer[this.position++] = tag
    if (value >= 0) return this.#varint(value)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 127n; rest >>= 7n) this.buffer[this.position++] = Number(rest & 127n) | 128
    this.buffer[this.position++] = Number(rest)
  }

  double(tag: number, value: number): void {
    this.reserve(9)
    this.buffer[this.position++] = tag
    this.position = this.buffer.writeDoubleLE(value, this.position)
  }

  /** `tag` takes two bytes, as those of fields from 16 on. */
  fixed32(tag: number, value: number): void {
    this.reserve(6)
    this.#varint(tag)
    this.position = this.buffer.writeUInt32LE(value, this.position)
  }

  /** A time in nanoseconds, which has more digits than a double. */
  time(tag: number, seconds: number, nanoseconds: number): void {
    this.reserve(9)
    this.buffer[this.position++] = tag
    // In parts of 16 bits of the seconds, so that each product is exact.
    const low = (seconds % 2 ** 16) * 1e9 + nanoseconds
    const high = Math.floor(seconds / 2 ** 16) * 1e9
    const sum = (high % 2 ** 16) * 2 ** 16 + (low % 2 ** 32)
    this.#word(sum % 2 ** 32)
    this.#word(Math.floor(high / 2 ** 16) + Math.floor(low / 2 ** 32) + Math.floor(sum / 2 ** 32))
  }

  /** An id of so many hex digits. */
  id(tag: number, id: string, digits: number): void {
    if (typeof id !== 'string' || id.length !== digits) throw new TypeError('an id is malformed')
    this.reserve(digits)
    const { buffer } = this
    let at = this.position
    buffer[at++] = tag
    buffer[at++] = digits / 2
    for (let index = 0; index < digits; index += 2) {
      const high = hexDigits[id.charCodeAt(index)] ?? -1
      const low = hexDigits[id.charCodeAt(index + 1)] ?? -1
      if (high < 0 || low < 0) throw new TypeError('an id is malformed')
      buffer[at++] = high * 16 + low
    }
    this.position = at
  }

  text(tag: number, value: string): void {
    this.reserve(MAX_HEADER_BYTES + value.length * MAX_BYTES_PER_UNIT)
    this.buffer[this.position++] = tag
    const start = this.position
    const room = varintLength(value.length)
    const length = this.#utf8(value, start + room)
    const needed = varintLength(length)
    if (needed !== room) this.buffer.copyWithin(start + needed, start + room, start + room + length)
    this.#varint(length)
    this.position += length
  }

  bytes(value: Uint8Array): void {
    this.reserve(value.length)
    const { buffer } = this
    let at = this.position
    for (let index = 0; index < value.length; index += 1) buffer[at++] = value[index]!
    this.position = at
  }

  /** A KeyValue with a text: all that most attributes are. `key` is its encoded first field. */
  textAttribute(tag: number, key: Uint8Array, value: string): void {
    this.reserve(MAX_HEADER_BYTES + key.length + value.length * MAX_BYTES_PER_UNIT)
    const start = this.position
    // The text first, where it stands if all of it is ASCII: only then its length is known.
    const expected = start + headerLength(key.length, value.length)
    const length = this.#utf8(value, expected)
    const needed = start + headerLength(key.length, length)
    if (needed !== expected) this.buffer.copyWithin(needed, expected, expected + length)
    const valueLength = 1 + varintLength(length) + length
    this.buffer[this.position++] = tag
    this.#varint(key.length + 1 + varintLength(valueLength) + valueLength)
    this.bytes(key)
    this.buffer[this.position++] = VALUE
    this.#varint(valueLength)
    this.buffer[this.position++] = STRING_VALUE
    this.#varint(length)
    this.position += length
  }

  /** Returns how many bytes the text takes. There must be room for it. */
  #utf8(value: string, at: number): number {
    const { length } = value
    if (length > MAX_COPIED_LENGTH) return this.buffer.write(value, at)
    const { buffer } = this
    for (let index = 0; index < length; index += 1) {
      const unit = value.charCodeAt(index)
      if (unit > 127) return buffer.write(value, at)
      buffer[at + index] = unit
    }
    return length
  }

  #varint(value: number): void {
    const { buffer } = this
    let at = this.position
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) buffer[at++] = (rest % 128) | 128
    buffer[at++] = rest
    this.position = at
  }

  #word(value: number): void {
    const { buffer, position } = this
    buffer[position] = value
    buffer[position + 1] = value >>> 8
    buffer[position + 2] = value >>> 16
    buffer[position + 3] = value >>> 24
    this.position += 4
  }
}

/** The value of each hex digit, by its character code; -1 for other characters. */
const hexDigits = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

function varintLength(value: number): number {
  if (value < 2 ** 7) return 1
  if (value < 2 ** 14) return 2
  if (value < 2 ** 21) return 3
  return value < 2 ** 28 ? 4 : 5
}

/** What stands before the text of a KeyValue: three tags, three lengths and the key. */
function headerLength(keyLength: number, length: number): number {
  const valueLength = 1 + varintLength(length) + length
  const size = keyLength + 1 + varintLength(valueLength) + valueLength
  return 3 + varintLength(size) + keyLength + varintLength(valueLength) + varintLength(length)
}
