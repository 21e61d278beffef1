import { type HeapBudget, createHeapBudget } from '../heap-budget.ts'
import { DecodeError } from '../rejection.ts'
import { int64FromHalves } from '../value-rules.ts'
import { internText, internValue, keyAfter, newKey, type KnownKey } from './repeated-texts.ts'

/** A trace id. */
const LONG_ID_BYTES = 16

/** Reads protobuf's wire format, never beyond the current message. */
export class ProtobufReader {
  readonly bytes: Buffer
  readonly view: DataView
  readonly heap: HeapBudget = createHeapBudget()
  position = 0
  /** End of the current message. */
  end: number
  /** Nesting depth; `ends` and `names` describe the messages around. */
  depth = 0
  readonly ends: number[] = []
  readonly names: string[]

  constructor(bytes: Buffer, message: string) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.length
    this.names = [message]
  }

  /** Enters the message whose length comes next. */
  enter(message: string): void {
    const end = this.readEnd()
    this.ends[this.depth++] = this.end
    this.names[this.depth] = message
    this.end = end
  }

  /** Returns to the enclosing message and skips the rest of this one. */
  leave(): void {
    this.position = this.end
    this.end = this.ends[--this.depth]!
  }

  /** Returns to `depth`, past the message that was entered there. */
  leaveTo(depth: number): void {
    while (this.depth > depth) this.leave()
  }

  hasMore(): boolean {
    return this.position < this.end
  }

  /** Field number and wire type together, as on the wire: `(field << 3) | type`. */
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
    return this.fail(last === this.end ? 'a number is truncated' : 'a number has more than 10 bytes')
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
    return this.fail(last === this.end ? 'a number is truncated' : 'a number has more than 10 bytes')
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

  /** Invalid UTF-8 becomes U+FFFD. */
  readString(): string {
    const start = this.skipField()
    return internValue(this.bytes, start, this.position)
  }

  /** The key of an attribute, in these bytes. */
  keyAt(start: number, end: number): KnownKey {
    this.#lastKey = keyAfter(this.#lastKey, this.bytes, start, end)
    return this.#lastKey
  }

  #lastKey = newKey('')

  /** Reads a string that many spans share. */
  readKey(): string {
    const start = this.skipField()
    return internText(this.bytes, start, this.position)
  }

  readHex(): string {
    const start = this.skipField()
    const length = this.position - start
    if (length !== LONG_ID_BYTES) return this.bytes.toString('hex', start, this.position)
    if (!this.#isLastId(start))
      this.#lastId = { start, hex: this.bytes.toString('hex', start, this.position) }
    return this.#lastId.hex
  }

  /** The last trace id: the spans of a trace follow each other. */
  #lastId = { start: -1, hex: '' }

  #isLastId(start: number): boolean {
    const { bytes } = this
    const last = this.#lastId.start
    if (last === -1) return false
    for (let index = 0; index < LONG_ID_BYTES; index++)
      if (bytes[last + index] !== bytes[start + index]) return false
    return true
  }

  /** Reads the length of a field up to `limit` and returns its end. If there is none, returns -1, and the position is anywhere. */
  tryEnd(limit: number): number {
    const { bytes } = this
    let length = bytes[this.position++]!
    if (length >= 128) {
      const second = bytes[this.position++]!
      length += (second - 1) * 128
      if (second >= 128) {
        const third = bytes[this.position++]!
        if (third >= 128) return -1
        length += (third - 1) * 16_384
      }
    }
    const end = this.position + length
    return end <= limit ? end : -1
  }

  /** Skips a field of this tag up to `limit` and returns its start. If there is none, returns -1, and the position is anywhere. */
  trySkip(tag: number, limit: number): number {
    if (this.bytes[this.position++] !== tag) return -1
    const end = this.tryEnd(limit)
    const start = this.position
    this.position = end
    return end === -1 ? -1 : start
  }

  readBase64(): string {
    const start = this.skipField()
    return this.bytes.toString('base64', start, this.position)
  }

  /** Skips a field. */
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
    throw new DecodeError(`${problem} (byte ${this.position} in ${this.describePath()})`)
  }

  describePath(): string {
    const path = this.names.slice(0, this.depth + 1)
    return path.length > 7 ? [...path.slice(0, 5), '…', path.at(-1)].join(' > ') : path.join(' > ')
  }

  /** Skips a length-delimited field and returns its start. */
  skipField(): number {
    const end = this.readEnd()
    const start = this.position
    this.position = end
    return start
  }

  /** Skips a field of fixed size and returns its start. */
  advance(bytes: number): number {
    const start = this.position
    if (start + bytes > this.end) this.fail(`${bytes} bytes are needed, but ${this.end - start} are left`)
    this.position = start + bytes
    return start
  }

  /** Reads the length of the next field and returns its end. */
  readEnd(): number {
    const length = this.readVarint()
    const end = this.position + length
    if (end > this.end) {
      this.fail(`a field claims ${length} bytes, but ${this.end - this.position} are left`)
    }
    return end
  }
}
