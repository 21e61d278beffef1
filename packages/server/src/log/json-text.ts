import type { AttributeValue } from '@playhead/model'
import { EncodedText } from './encoded-text.ts'
import { GrowingBuffer } from './growing-buffer.ts'

const BACKSLASH = 0x5c
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
}
/** Set in `written` for bytes that need six characters, which are rare. */
const IS_CONTROL = 0x8000
/** What a byte is written as within a JSON string: itself, or a backslash and then another one. */
const written = new Uint16Array(256)
const widths = new Uint8Array(256).fill(1)
for (let byte = 0; byte < 256; byte++) {
  const escape = escapes[String.fromCharCode(byte)]
  written[byte] = byte < 0x20 ? IS_CONTROL : byte
  if (escape === undefined) continue
  written[byte] = BACKSLASH | (escape.charCodeAt(0) << 8)
  widths[byte] = 2
}

const [QUOTE, COMMA, COLON, OPEN, CLOSE] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d]

/**
 * Writes JSON objects as UTF-8, straight from the UTF-8 of a request. `JSON.stringify` and then the encoding of its result take
 * longer, and leave two strings of the object's size to be collected.
 */
export class JsonText {
  readonly #buffer: GrowingBuffer
  #start = 0
  /** How many bytes there are more than characters. */
  #surplus = 0
  /** Where the last copied string begins. */
  #copied = 0
  /** Whether it has control characters, which were not copied. */
  #hasControls = false
  /** Set it when what was written since `begin` is wrong. */
  isGivenUp = false

  constructor(capacity: number) {
    this.#buffer = new GrowingBuffer(capacity)
  }

  /** Forgets everything that was written, to reuse the memory. */
  clear(): void {
    this.#buffer.clear()
  }

  begin(): void {
    this.#start = this.#buffer.length
    this.#surplus = 0
    this.isGivenUp = false
  }

  /** The object whose fields were written since `begin`. */
  end(): EncodedText {
    const buffer = this.#buffer
    buffer.reserve(2)
    if (buffer.length === this.#start) buffer.bytes[buffer.length++] = OPEN
    buffer.bytes[buffer.length++] = CLOSE
    return new EncodedText(buffer, this.#start, buffer.length, buffer.length - this.#start - this.#surplus)
  }

  /** Writes the name of the next field, which stands in `bytes[start, end)`. */
  copyKey(key: string, bytes: Buffer, start: number, end: number): void {
    const buffer = this.#buffer
    buffer.reserve(1)
    buffer.bytes[buffer.length] = buffer.length === this.#start ? OPEN : COMMA
    buffer.length += 1
    this.copyKnown(key, bytes, start, end)
    buffer.bytes[buffer.length++] = COLON
  }

  /** Writes a string that stands in `bytes[start, end)`. */
  copyKnown(text: string, bytes: Buffer, start: number, end: number): void {
    if (!this.#copy(bytes, start, end)) this.#checkCopy(text, end - start)
  }

  /** Writes the string in `bytes[start, end)` and returns it. */
  copyText(bytes: Buffer, start: number, end: number): string {
    if (this.#copy(bytes, start, end)) return bytes.toString('latin1', start, end)
    const text = bytes.toString('utf8', start, end)
    this.#checkCopy(text, end - start)
    return text
  }

  /** Writes a value of another type. */
  writeValue(value: AttributeValue): void {
    if (typeof value === 'number' || typeof value === 'boolean') this.#writeAscii(String(value))
    else this.#write(JSON.stringify(value))
  }

  /** Copies a string between quotes. False if it is more than plain ASCII, so that the copy may not be right. */
  #copy(bytes: Buffer, start: number, end: number): boolean {
    const buffer = this.#buffer
    // One more byte than the longest copy needs, for the colon after a key.
    buffer.reserve(2 * (end - start) + 4)
    const { view } = buffer
    let at = buffer.length
    this.#copied = at
    view.setUint8(at++, QUOTE)
    let all = 0
    // Writes two bytes for each and advances by one or two: a branch would often be predicted wrong.
    for (let index = start; index < end; index++) {
      const byte = bytes[index]!
      const pair = written[byte]!
      all |= pair
      view.setUint16(at, pair, true)
      at += widths[byte]!
    }
    view.setUint8(at++, QUOTE)
    buffer.length = at
    this.#hasControls = (all & IS_CONTROL) !== 0
    return (all & (0x80 | IS_CONTROL)) === 0
  }

  /** Corrects the last copy of a string of so many bytes, which may not all be UTF-8. */
  #checkCopy(text: string, bytes: number): void {
    if (!this.#hasControls && !text.includes('\ufffd')) {
      this.#surplus += bytes - text.length
      return
    }
    this.#buffer.length = this.#copied
    this.#write(JSON.stringify(text))
  }

  #writeAscii(text: string): void {
    const buffer = this.#buffer
    buffer.reserve(text.length)
    for (let index = 0; index < text.length; index++) buffer.bytes[buffer.length++] = text.charCodeAt(index)
  }

  #write(text: string): void {
    const buffer = this.#buffer
    buffer.reserve(3 * text.length + 1)
    const size = buffer.bytes.write(text, buffer.length, 'utf8')
    buffer.length += size
    this.#surplus += size - text.length
  }
}
