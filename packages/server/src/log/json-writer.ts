import { EncodedText } from './encoded-text.ts'
import { GrowingBuffer } from './growing-buffer.ts'

const [QUOTE, COMMA, COLON, OPEN, CLOSE] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d]
const [BACKSLASH, OPEN_LIST, CLOSE_LIST] = [0x5c, 0x5b, 0x5d]
/** A loop writes short texts faster than a call into the runtime. */
const MAX_SHORT_LENGTH = 40

const escapes = new Map(
  ['""', '\\\\', '\bb', '\ff', '\nn', '\rr', '\tt'].map(([character, letter]) => [
    character!.charCodeAt(0),
    letter!.charCodeAt(0),
  ]),
)
/** Flags beside the size of what is written for a pair. */
const SIZE = 7
const IS_CONTROL = 0x80
const IS_NOT_ASCII = 0x40
const SPACE_AFTER = 0x20_00
/**
 * What two bytes of a text are within a JSON string, and the size of that with its flags, by both bytes as one number. Two at a
 * time take half as long as one, and need no branch, which would often be predicted wrong: much of what agents say is JSON.
 */
const written = new Int32Array(0x1_00_00)
const sizes = new Uint8Array(0x1_00_00)
const singles = Array.from({ length: 0x1_00 }, (_, byte) => writtenFor(byte))
for (const [first, one] of singles.entries())
  for (const [second, two] of singles.entries()) {
    written[first | (second << 8)] = one.bytes | (two.bytes << (8 * one.size))
    sizes[first | (second << 8)] = (one.size + two.size) | one.flag | two.flag
  }

function writtenFor(byte: number): { bytes: number; size: number; flag: number } {
  const letter = escapes.get(byte)
  if (letter !== undefined) return { bytes: BACKSLASH | (letter << 8), size: 2, flag: 0 }
  return { bytes: byte, size: 1, flag: byte < 0x20 ? IS_CONTROL : byte > 0x7f ? IS_NOT_ASCII : 0 }
}

const FIRST_BYTES = 512 * 1024
const MAX_KEPT_BYTES = 16 * 1024 * 1024

/**
 * Writes JSON objects as UTF-8, straight from the UTF-8 of a request. `JSON.stringify` and then the encoding of its result take
 * three times as long, and leave two strings of the object's size to be collected.
 */
export class JsonWriter {
  #buffer = new GrowingBuffer(FIRST_BYTES)
  #from: DataView = new DataView(new ArrayBuffer(0))
  #start = 0
  /** How many bytes there are more than characters. */
  #surplus = 0
  /** How often it was cleared. */
  generation = 0

  get memory(): Buffer {
    return this.#buffer.bytes
  }

  /** Takes the memory back. No text in it can be read from then on. */
  clear(): void {
    if (this.#buffer.bytes.length > MAX_KEPT_BYTES) this.#buffer = new GrowingBuffer(FIRST_BYTES)
    this.#buffer.length = 0
    this.generation += 1
  }

  /** Begins an object, parts of which are copied from these bytes. */
  begin(from: DataView): void {
    this.#from = from
    this.#start = this.#buffer.length
    this.#surplus = 0
  }

  /** The object whose fields were written since `begin`. */
  end(): EncodedText {
    const start = this.#start
    if (this.#buffer.length === start) this.#buffer.writeByte(OPEN)
    this.#buffer.writeByte(CLOSE)
    const end = this.#buffer.length
    return new EncodedText(this, { start, end, length: end - start - this.#surplus })
  }

  /** Writes an object of plain values, as `JSON.stringify` would. Halves of surrogate pairs, which are no text, are replaced. */
  writeObject(fields: object): EncodedText {
    const start = this.#buffer.length
    this.#surplus = 0
    this.#writeFields(fields)
    const end = this.#buffer.length
    return new EncodedText(this, { start, end, length: end - start - this.#surplus })
  }

  /** Writes the key of the next field. */
  writeKey(key: string): void {
    this.#separate()
    this.#writeText(key)
    this.#buffer.writeByte(COLON)
  }

  writeValue(value: unknown): void {
    this.#write(value)
  }

  /** As `writeKey`, from the bytes that say it. */
  copyKey(start: number, end: number, key: string): void {
    this.#separate()
    this.copyText(start, end, key)
    this.#buffer.writeByte(COLON)
  }

  /** As `writeValue`, from the bytes that say `text`. */
  copyText(start: number, end: number, text: string): void {
    const { length } = this.#buffer
    const flags = this.#escape(this.#from, start, end)
    if ((flags & (IS_CONTROL | IS_NOT_ASCII)) === 0) return
    this.#surplus += end - start - text.length
    // What is not UTF-8 was read as a replacement character.
    if ((flags & IS_CONTROL) !== 0 || text.includes('\ufffd')) this.#writeAnew(length, text, end - start)
  }

  #separate(): void {
    this.#buffer.writeByte(this.#buffer.length === this.#start ? OPEN : COMMA)
  }

  /** Writes text between quotes. */
  #writeText(text: string): void {
    if (text.length <= MAX_SHORT_LENGTH && this.#writePlain(text)) return
    const buffer = this.#buffer
    // Written as it is, behind where it will be at most, and escaped from there.
    buffer.reserve(9 * text.length + 16)
    const start = buffer.length + 6 * text.length + 16
    const size = buffer.bytes.write(text, start, 'utf8')
    const { length } = buffer
    const flags = this.#escape(buffer.view, start, start + size)
    this.#surplus += size - text.length
    if ((flags & IS_CONTROL) !== 0) this.#writeAnew(length, text.toWellFormed(), size)
  }

  /** Writes a text that needs no escape. Returns false, and writes nothing, if it does. */
  #writePlain(text: string): boolean {
    this.#buffer.reserve(text.length + 2)
    const { bytes, length } = this.#buffer
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) return false
      bytes[length + 1 + index] = code
    }
    bytes[length] = QUOTE
    bytes[length + 1 + text.length] = QUOTE
    this.#buffer.length += text.length + 2
    return true
  }

  /** Copies a text between quotes, and returns what is special about it. */
  #escape(from: DataView, start: number, end: number): number {
    const buffer = this.#buffer
    buffer.reserve(2 * (end - start) + 8)
    const { view } = buffer
    let at = buffer.length
    let flags = 0
    view.setUint8(at++, QUOTE)
    let index = start
    for (; index < end - 1; index += 2) {
      const pair = from.getUint16(index, true)
      const size = sizes[pair]!
      view.setInt32(at, written[pair]!, true)
      at += size & SIZE
      flags |= size
    }
    if (index < end) {
      const pair = from.getUint8(index) | SPACE_AFTER
      const size = sizes[pair]!
      view.setInt32(at, written[pair]!, true)
      at += (size & SIZE) - 1
      flags |= size
    }
    view.setUint8(at++, QUOTE)
    buffer.length = at
    return flags
  }

  /** Replaces what was written of a text of this size, from `start` on, which is rare. */
  #writeAnew(start: number, text: string, size: number): void {
    const json = JSON.stringify(text)
    this.#buffer.length = start
    this.#buffer.writeText(json)
    this.#surplus += this.#buffer.length - start - json.length - (size - text.length)
  }

  #write(value: unknown): void {
    if (typeof value === 'string') this.#writeText(value)
    else if (typeof value === 'boolean' || Number.isFinite(value)) this.#writeWord(String(value))
    else if (typeof value !== 'object' || value === null) this.#writeWord('null')
    else if (Array.isArray(value)) this.#writeList(value)
    else this.#writeFields(value)
  }

  #writeWord(word: string): void {
    this.#buffer.reserve(word.length)
    const { bytes, length } = this.#buffer
    for (let index = 0; index < word.length; index++) bytes[length + index] = word.charCodeAt(index)
    this.#buffer.length += word.length
  }

  #writeList(list: readonly unknown[]): void {
    this.#buffer.writeByte(OPEN_LIST)
    for (let index = 0; index < list.length; index++) {
      if (index > 0) this.#buffer.writeByte(COMMA)
      this.#write(list[index])
    }
    this.#buffer.writeByte(CLOSE_LIST)
  }

  #writeFields(fields: object): void {
    this.#buffer.writeByte(OPEN)
    let isFirst = true
    for (const name in fields) {
      const value = (fields as Record<string, unknown>)[name]
      if (value === undefined) continue
      if (!isFirst) this.#buffer.writeByte(COMMA)
      isFirst = false
      this.#writeText(name)
      this.#buffer.writeByte(COLON)
      this.#write(value)
    }
    this.#buffer.writeByte(CLOSE)
  }
}
