import {
  ArrayWriter,
  MapWriter,
  NullableWriter,
  NumberWriter,
  StringWriter,
  type ColumnWriter,
} from './column-writers.ts'
import type { EncodedBlock } from './frames.ts'
import { GrowingBuffer } from './growing-buffer.ts'

/** The column types that we write. The engine casts them to the table's own, such as LowCardinality. */
const writerFactories = {
  String: () => new StringWriter(),
  UInt8: () => new NumberWriter('UInt8'),
  UInt16: () => new NumberWriter('UInt16'),
  UInt32: () => new NumberWriter('UInt32'),
  UInt64: () => new NumberWriter('UInt64'),
  Int64: () => new NumberWriter('Int64'),
  Float64: () => new NumberWriter('Float64'),
  "DateTime64(3, 'UTC')": () => new NumberWriter('Int64'),
  "DateTime64(9, 'UTC')": () => new NumberWriter('Int64'),
  "Nullable(DateTime64(9, 'UTC'))": () => new NullableWriter(new NumberWriter('Int64'), 0n),
  'Nullable(UInt32)': () => new NullableWriter(new NumberWriter('UInt32'), 0),
  'Nullable(Float64)': () => new NullableWriter(new NumberWriter('Float64'), 0),
  'Array(String)': () => new ArrayWriter(new StringWriter()),
  'Array(UInt8)': () => new ArrayWriter(new NumberWriter('UInt8')),
  'Array(Nullable(Float64))': () => new ArrayWriter(new NullableWriter(new NumberWriter('Float64'), 0)),
  'Array(Nullable(Float32))': () => new ArrayWriter(new NullableWriter(new NumberWriter('Float32'), 0)),
  'Array(Nullable(UInt64))': () => new ArrayWriter(new NullableWriter(new NumberWriter('UInt64'), 0)),
  'Map(String, UInt64)': () => new MapWriter('UInt64'),
} satisfies Record<string, () => ColumnWriter<never>>

export type ColumnType = keyof typeof writerFactories
export type ValueOf<Type extends ColumnType> =
  ReturnType<(typeof writerFactories)[Type]> extends ColumnWriter<infer Value> ? Value : never

/** A column of a table: its type, and the value that a row has in it. */
export type Column<Row> = {
  [Type in ColumnType]: { readonly type: Type; readonly value: (row: Row) => ValueOf<Type> }
}[ColumnType]
export type Columns<Row> = Readonly<Record<string, Column<Row>>>

/** Encoded rows, as the log takes them. */
export type LogBlock = {
  readonly rows: number
  /** The size of all values, without constants. */
  readonly bytes: number
  /** The columns without the block's head, and a UInt64 column with the same value in every row. */
  withConstant(name: string, value: bigint): EncodedBlock
}

/** A block that another thread encoded: the columns, without the block's head. */
export class EncodedRows implements LogBlock {
  readonly rows: number
  readonly #columns: number
  readonly #contents: Buffer

  constructor({ rows, columns, contents }: { rows: number; columns: number; contents: Buffer }) {
    this.rows = rows
    this.#columns = columns
    this.#contents = contents
  }

  get bytes(): number {
    return this.#contents.length
  }

  withConstant(name: string, value: bigint): EncodedBlock {
    const pieces = [this.#contents, ...constantColumn(name, value, this.rows)]
    return { columns: this.#columns + 1, rows: this.rows, pieces }
  }
}

/** Rows on their way to ClickHouse, encoded column by column in its Native format. A file may hold many blocks. */
export class NativeBlock<Row> implements LogBlock {
  rows = 0
  readonly #names: string[]
  readonly #types: ColumnType[]
  readonly #values: ((row: Row) => unknown)[]
  readonly #writers: ColumnWriter<unknown>[]
  readonly #truncateAll: () => void

  constructor(columns: Columns<Row>) {
    this.#names = Object.keys(columns)
    this.#types = Object.values(columns).map(({ type }) => type)
    this.#values = Object.values(columns).map(({ value }) => value)
    this.#writers = this.#types.map((type) => writerFactories[type]() as ColumnWriter<unknown>)
    this.#truncateAll = this.mark()
  }

  /** Empties the block but keeps its buffers: reusing memory is cheaper than allocating it. */
  clear(): void {
    this.#truncateAll()
  }

  append(row: Row): void {
    for (let index = 0; index < this.#writers.length; index++) {
      this.#writers[index]!.append(this.#values[index]!(row))
    }
    this.rows += 1
  }

  /** The size of all values, without column names and constants. */
  get bytes(): number {
    let bytes = 0
    for (const writer of this.#writers) bytes += writer.size
    return bytes
  }

  /** Remembers where the block ends. The returned function truncates it to that point. */
  mark(): () => void {
    const rows = this.rows
    const undo = this.#writers.map((writer) => writer.mark())
    return () => {
      this.rows = rows
      undo.forEach((step) => step())
    }
  }

  /** The encoded block, as buffers for one gathered write. */
  pieces(): Buffer[] {
    const head = new GrowingBuffer(64)
    head.writeVarint(this.#writers.length)
    head.writeVarint(this.rows)
    return [head.contents(), ...this.columnPieces()]
  }

  withConstant(name: string, value: bigint): EncodedBlock {
    const pieces = [...this.columnPieces(), ...constantColumn(name, value, this.rows)]
    return { columns: this.#writers.length + 1, rows: this.rows, pieces }
  }

  /** The columns without the block's head. */
  columnPieces(): Buffer[] {
    return this.#writers.flatMap((writer, index) => [
      columnHeader(this.#names[index]!, this.#types[index]!),
      ...writer.pieces(),
    ])
  }
}

function constantColumn(name: string, value: bigint, rows: number): Buffer[] {
  const values = Buffer.alloc(rows * 8)
  for (let row = 0; row < rows; row++) values.writeBigUInt64LE(value, row * 8)
  return [columnHeader(name, 'UInt64'), values]
}

function columnHeader(name: string, type: ColumnType): Buffer {
  const header = new GrowingBuffer(64)
  header.writeString(name)
  header.writeString(type)
  return header.contents()
}
