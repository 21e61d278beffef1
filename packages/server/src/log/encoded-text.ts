import type { GrowingBuffer } from './growing-buffer.ts'

/** A text that is already UTF-8: a part of a buffer. */
export class EncodedText {
  readonly buffer: GrowingBuffer
  readonly start: number
  readonly end: number
  /** Its length as a JavaScript string. */
  readonly length: number
  readonly #generation: number

  constructor(buffer: GrowingBuffer, start: number, end: number, length: number) {
    this.buffer = buffer
    this.start = start
    this.end = end
    this.length = length
    this.#generation = buffer.generation
  }

  /** Whether the buffer was emptied since. */
  get isGone(): boolean {
    return this.buffer.generation !== this.#generation
  }

  toString(): string {
    if (this.isGone) throw new Error('the buffer of a text was emptied before the text was read')
    return this.buffer.bytes.toString('utf8', this.start, this.end)
  }
}
