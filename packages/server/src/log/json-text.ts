import { GrowingBuffer } from './growing-buffer.ts'

/** A text that is already UTF-8: a part of a buffer. */
export type EncodedText = {
  readonly buffer: GrowingBuffer
  readonly start: number
  readonly end: number
  /** Its length as a JavaScript string. */
  readonly characters: number
}

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

/**
 * Writes the JSON of objects as UTF-8, straight from the UTF-8 of a request. `JSON.stringify` and then the encoding of its
 * result take twice as long, and three times the memory.
 */
export class JsonText {
  readonly #buffer: GrowingBuffer
  #start = 0
  /** How many bytes there are more than characters. */
  #surplus = 0
  #isGivenUp = false

  constructor(capacity: number) {
    this.#buffer = new GrowingBuffer(capacity)
  }

  begin(): void {
    this.#start = this.#buffer.length
    this.#surplus = 0
    this.#isGivenUp = false
  }

  /** Says that what is written since `begin` is wrong. */
  giveUp(): void {
    this.#isGivenUp = true
  }

  /** The object whose fields were written since `begin`; undefined if it was given up. */
  end(): EncodedText | undefined {
    if (this.#isGivenUp) {
      this.#buffer.length = this.#start
      return undefined
    }
    if (this.#buffer.length === this.#start) this.#writeByte(0x7b)
    this.#writeByte(0x7d)
    const { length } = this.#buffer
    const characters = length - this.#start - this.#surplus
    return { buffer: this.#buffer, start: this.#start, end: length, characters }
  }

  /** Writes the name of the next field, which stands in `bytes[start, end)`. */
  writeKey(key: string, bytes: Buffer, start: number, end: number): void {
    this.#writeByte(this.#buffer.length === this.#start ? 0x7b : 0x2c)
    this.writeKnown(key, bytes, start, end)
    this.#writeByte(0x3a)
  }

  /** Writes a string that stands in `bytes[start, end)`. */
  writeKnown(text: string, bytes: Buffer, start: number, end: number): void {
    if (this.#copy(bytes, start, end)) this.#checkCopy(text, end - start)
  }

  /** Writes the string in `bytes[start, end)` and returns it. */
  writeText(bytes: Buffer, start: number, end: number): string {
    if (!this.#copy(bytes, start, end)) return bytes.toString('latin1', start, end)
    const text = bytes.toString('utf8', start, end)
    this.#checkCopy(text, end - start)
    return text
  }

  /** Writes any other value. */
  writeValue(value: unknown): void {
    this.#writeCharacters(JSON.stringify(value))
  }

  /** Where the last copy began. */
  #copied = 0

  /** Copies a string between quotes. True if it may not be right as it is, because it is more than ASCII. */
  #copy(bytes: Buffer, start: number, end: number): boolean {
    const buffer = this.#buffer
    buffer.reserve(2 * (end - start) + 4)
    const { view } = buffer
    let at = buffer.length
    this.#copied = at
    view.setUint8(at++, 0x22)
    let all = 0
    // Writes two bytes for each and advances by one or two: a branch would often be predicted wrong.
    for (let index = start; index < end; index++) {
      const byte = bytes[index]!
      const pair = written[byte]!
      all |= pair
      view.setUint16(at, pair, true)
      at += widths[byte]!
    }
    view.setUint8(at++, 0x22)
    buffer.length = at
    return (all & (0x80 | IS_CONTROL)) !== 0
  }

  /** Writes the last copy again if it has control characters, or bytes that are not UTF-8. */
  #checkCopy(text: string, bytes: number): void {
    if (isWellCopied(text)) {
      this.#surplus += bytes - text.length
      return
    }
    this.#buffer.length = this.#copied
    this.#writeCharacters(JSON.stringify(text))
  }

  #writeCharacters(text: string): void {
    const buffer = this.#buffer
    buffer.reserve(3 * text.length)
    const size = buffer.bytes.write(text, buffer.length, 'utf8')
    buffer.length += size
    this.#surplus += size - text.length
  }

  #writeByte(byte: number): void {
    this.#buffer.reserve(1)
    this.#buffer.bytes[this.#buffer.length++] = byte
  }
}

// oxlint-disable-next-line no-control-regex
const notCopied = /[\0-\x07\x0b\x0e-\x1f\ufffd]/

function isWellCopied(text: string): boolean {
  return !notCopied.test(text)
}
