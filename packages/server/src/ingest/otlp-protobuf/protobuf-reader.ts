import { createHeapAllowance, type HeapAllowance } from '../heap-allowance.ts'
import { internText } from './intern-text.ts'
import { Unreadable } from '../rejection.ts'
import { int64FromHalves } from '../value-rules.ts'

/** Model names, roles, operations: longer values are rarely the same twice. */
const LONGEST_INTERNED_VALUE = 24

/** Reads protobuf's wire format. Nothing is read beyond the message that was entered last. */
export class ProtobufReader {
  readonly bytes: Buffer
  readonly view: DataView
  readonly allowance: HeapAllowance = createHeapAllowance()
  position = 0
  /** Where the message that is being read ends. */
  end: number
  /** How many messages we are inside of; their ends and names lie below. */
  depth = 0
  readonly ends: number[] = []
  readonly names: string[]

  constructor(bytes: Buffer, message: string) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.length
    this.names = [message]
  }

  /** Goes into the message whose length comes next. */
  enter(message: string): void {
    const end = this.readEnd()
    this.ends[this.depth++] = this.end
    this.names[this.depth] = message
    this.end = end
  }

  /** Goes back to the message around; whatever is left of this one is passed over. */
  leave(): void {
    this.position = this.end
    this.end = this.ends[--this.depth]!
  }

  /** Goes back out to `depth`, past the message that was entered there. */
  leaveTo(depth: number): void {
    while (this.depth > depth) this.leave()
  }

  hasMore(): boolean {
    return this.position < this.end
  }

  /** Field number and wire type in one, as they are on the wire: `(field << 3) | type`. */
  readTag(): number {
    const tag = this.readVarint()
    if (tag < 8 || tag > 0xff_ff_ff_ff) this.fail(`there is no field ${Math.floor(tag / 8)}`)
    return tag
  }

  /** Unsigned; exact below 2^53, which is all that lengths, tags and enums need. */
  readVarint(): number {
    const first = this.bytes[this.position]!
    if (first < 128 && this.position < this.end) {
      this.position++
      return first
    }
    let value = 0
    let scale = 1
    const last = Math.min(this.end, this.position + 10)
    for (let position = this.position; position < last; position++) {
      const byte = this.bytes[position]!
      value += (byte & 127) * scale
      if (byte < 128) {
        this.position = position + 1
        return value
      }
      scale *= 128
    }
    return this.fail(last === this.end ? 'a number is cut off' : 'a number has more than 10 bytes')
  }

  /** A number where it is exact, else its decimal digits. */
  readInt64(): number | string {
    let low = 0
    let high = 0
    const last = Math.min(this.end, this.position + 10)
    for (let position = this.position, shift = 0; position < last; position++, shift += 7) {
      const byte = this.bytes[position]!
      const bits = byte & 127
      if (shift <= 28) low |= bits << shift
      if (shift === 28) high = bits >> 4
      if (shift > 28) high |= bits << (shift - 32)
      if (byte < 128) {
        this.position = position + 1
        return int64FromHalves(low, high)
      }
    }
    return this.fail(last === this.end ? 'a number is cut off' : 'a number has more than 10 bytes')
  }

  readFixed32(): number {
    return this.view.getUint32(this.advance(4), true)
  }

  readFixed64(): bigint {
    return this.view.getBigUint64(this.advance(8), true)
  }

  readDouble(): number {
    return this.view.getFloat64(this.advance(8), true)
  }

  /** UTF-8; what is not becomes U+FFFD. */
  readString(): string {
    const start = this.skipField()
    if (this.position - start <= LONGEST_INTERNED_VALUE) return internText(this.bytes, start, this.position)
    return this.bytes.toString('utf8', start, this.position)
  }

  /** A string that many spans have in common. */
  readKey(): string {
    const start = this.skipField()
    return internText(this.bytes, start, this.position)
  }

  readHex(): string {
    const start = this.skipField()
    return this.bytes.toString('hex', start, this.position)
  }

  readBase64(): string {
    const start = this.skipField()
    return this.bytes.toString('base64', start, this.position)
  }

  /** Passes over a field that we do not read. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.readVarint()
        return
      case 1:
        this.advance(8)
        return
      case 2:
        this.skipField()
        return
      case 5:
        this.advance(4)
        return
      default:
        this.fail(`field ${tag >>> 3} has wire type ${tag & 7}, which OTLP does not use`)
    }
  }

  fail(problem: string): never {
    throw new Unreadable(`${problem} (byte ${this.position} in ${this.describePath()})`)
  }

  describePath(): string {
    const path = this.names.slice(0, this.depth + 1)
    return path.length > 7 ? [...path.slice(0, 5), '…', path.at(-1)].join(' > ') : path.join(' > ')
  }

  /** Passes over a field with a length and says where it starts. */
  skipField(): number {
    const end = this.readEnd()
    const start = this.position
    this.position = end
    return start
  }

  /** Passes over a field of fixed size and says where it starts. */
  advance(bytes: number): number {
    const start = this.position
    if (start + bytes > this.end) this.fail(`${bytes} bytes are needed and ${this.end - start} are left`)
    this.position = start + bytes
    return start
  }

  /** Where the field whose length comes next ends. */
  readEnd(): number {
    const length = this.readVarint()
    const end = this.position + length
    if (end > this.end) {
      this.fail(`a field says it has ${length} bytes and ${this.end - this.position} are left`)
    }
    return end
  }
}
