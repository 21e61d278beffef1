import { GrowingBuffer } from './growing-buffer.ts'
import type { EncodedText } from './encoded-text.ts'

/** Encodes the values of one column in ClickHouse's Native format. */
export type ColumnWriter<Value> = {
  append(value: Value): void
  /** The bytes written so far. */
  readonly size: number
  /** Remembers where the column ends. The returned function truncates it to that point. */
  mark(): () => void
  /** The encoded pieces, in order. */
  pieces(): Buffer[]
}

/** A column whose values are written to one buffer. */
abstract class BufferWriter<Value> implements ColumnWriter<Value> {
  protected readonly buffer: GrowingBuffer

  constructor(capacity?: number) {
    this.buffer = new GrowingBuffer(capacity)
  }

  abstract append(value: Value): void

  get size(): number {
    return this.buffer.length
  }

  mark(): () => void {
    return this.buffer.mark()
  }

  pieces(): Buffer[] {
    return [this.buffer.contents()]
  }
}

export class StringWriter extends BufferWriter<string | EncodedText> {
  append(value: string | EncodedText): void {
    if (typeof value === 'string') this.buffer.writeString(value)
    else this.buffer.writeEncoded(value)
  }
}

/** The bytes of a value of each type. */
export const widths = {
  UInt8: 1,
  UInt16: 2,
  UInt32: 4,
  UInt64: 8,
  Int64: 8,
  Float32: 4,
  Float64: 8,
} as const
type NumberKind = keyof typeof widths

export class NumberWriter extends BufferWriter<number | bigint> {
  readonly #kind: NumberKind
  readonly #width: number

  constructor(kind: NumberKind) {
    super(1024)
    this.#kind = kind
    this.#width = widths[kind]
  }

  append(value: number | bigint): void {
    const { buffer } = this
    buffer.reserve(this.#width)
    writeNumber(this.#kind, buffer.view, buffer.length, value)
    buffer.length += this.#width
  }
}

function writeNumber(kind: NumberKind, view: DataView, at: number, value: number | bigint): void {
  switch (kind) {
    case 'UInt8':
      view.setUint8(at, Number(value))
      return
    case 'UInt16':
      view.setUint16(at, Math.min(Number(value), 0xffff), true)
      return
    case 'UInt32':
      view.setUint32(at, Math.min(Number(value), 0xffffffff), true)
      return
    case 'UInt64':
      if (typeof value === 'bigint') view.setBigUint64(at, value, true)
      else writeSafeInteger(view, at, Math.max(value, 0))
      return
    case 'Int64':
      if (typeof value === 'bigint') view.setBigInt64(at, value, true)
      else writeSafeInteger(view, at, value)
      return
    case 'Float32':
      view.setFloat32(at, Number(value), true)
      return
    case 'Float64':
      view.setFloat64(at, Number(value), true)
  }
}

/** Writes a whole number of less than 54 bits without creating a bigint. */
function writeSafeInteger(view: DataView, at: number, value: number): void {
  const whole = Math.min(Math.max(Math.floor(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
  const high = Math.floor(whole / 0x1_0000_0000)
  view.setUint32(at, whole - high * 0x1_0000_0000, true)
  view.setInt32(at + 4, high, true)
}

export class NullableWriter<Value> implements ColumnWriter<Value | null> {
  readonly #nulls = new GrowingBuffer(256)
  readonly #values: ColumnWriter<Value>
  readonly #filler: Value

  constructor(values: ColumnWriter<Value>, filler: Value) {
    this.#values = values
    this.#filler = filler
  }

  append(value: Value | null): void {
    this.#nulls.reserve(1)
    this.#nulls.bytes[this.#nulls.length++] = value === null ? 1 : 0
    this.#values.append(value ?? this.#filler)
  }

  get size(): number {
    return this.#nulls.length + this.#values.size
  }

  mark(): () => void {
    const undo = [this.#nulls.mark(), this.#values.mark()]
    return () => undo.forEach((step) => step())
  }

  pieces(): Buffer[] {
    return [this.#nulls.contents(), ...this.#values.pieces()]
  }
}

export class ArrayWriter<Value> implements ColumnWriter<readonly Value[]> {
  readonly #ends = new NumberWriter('UInt64')
  readonly #items: ColumnWriter<Value>
  #count = 0

  constructor(items: ColumnWriter<Value>) {
    this.#items = items
  }

  append(values: readonly Value[]): void {
    for (const value of values) this.#items.append(value)
    this.#count += values.length
    this.#ends.append(this.#count)
  }

  get size(): number {
    return this.#ends.size + this.#items.size
  }

  mark(): () => void {
    const count = this.#count
    const undo = [this.#ends.mark(), this.#items.mark()]
    return () => {
      this.#count = count
      undo.forEach((step) => step())
    }
  }

  pieces(): Buffer[] {
    return [...this.#ends.pieces(), ...this.#items.pieces()]
  }
}

/** `Map(String, Number)`. Entries without a value are left out, because missing is not zero. */
export class MapWriter implements ColumnWriter<Readonly<Record<string, number | undefined>>> {
  readonly #ends = new NumberWriter('UInt64')
  readonly #keys = new StringWriter()
  readonly #values: NumberWriter
  #count = 0

  constructor(kind: NumberKind) {
    this.#values = new NumberWriter(kind)
  }

  append(entries: Readonly<Record<string, number | undefined>>): void {
    for (const key of Object.keys(entries)) {
      const value = entries[key]
      if (value === undefined) continue
      this.#keys.append(key)
      this.#values.append(value)
      this.#count += 1
    }
    this.#ends.append(this.#count)
  }

  get size(): number {
    return this.#ends.size + this.#keys.size + this.#values.size
  }

  mark(): () => void {
    const count = this.#count
    const undo = [this.#ends.mark(), this.#keys.mark(), this.#values.mark()]
    return () => {
      this.#count = count
      undo.forEach((step) => step())
    }
  }

  pieces(): Buffer[] {
    return [...this.#ends.pieces(), ...this.#keys.pieces(), ...this.#values.pieces()]
  }
}
