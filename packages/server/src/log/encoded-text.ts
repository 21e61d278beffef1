import type { JsonWriter } from './json-writer.ts'

/** A JSON text that is UTF-8 already, in the memory of a `JsonWriter`, until that is cleared. */
export class EncodedText {
  readonly start: number
  readonly end: number
  /** Its length as a JavaScript string. */
  readonly length: number
  readonly writer: JsonWriter
  readonly #generation: number

  constructor(writer: JsonWriter, { start, end, length }: { start: number; end: number; length: number }) {
    this.start = start
    this.end = end
    this.length = length
    this.writer = writer
    this.#generation = writer.generation
  }

  get isGone(): boolean {
    return this.writer.generation !== this.#generation
  }

  /** What holds it, from `start` to `end`. */
  get memory(): Buffer {
    if (this.isGone) throw new Error('the memory of a text was used again before the text was read')
    return this.writer.memory
  }

  toString(): string {
    return this.memory.toString('utf8', this.start, this.end)
  }
}
