import { NativeBlock, type Columns, type LogBlock } from './native-block.ts'

/** The engine processes one block at a time and needs several times its size in memory. */
const MAX_BLOCK_BYTES = 8 * 1024 * 1024
const MAX_REUSED_BYTES = 2 * MAX_BLOCK_BYTES

/** Rows that wait to be written, encoded as blocks in ClickHouse's Native format. */
export class PendingRows<Row> {
  readonly #columns: Columns<Row>
  readonly #blocks: NativeBlock<Row>[]
  /** Those that were encoded elsewhere. */
  readonly #others: LogBlock[] = []

  constructor(columns: Columns<Row>) {
    this.#columns = columns
    this.#blocks = [new NativeBlock(columns)]
  }

  get rows(): number {
    return this.#all().reduce((sum, block) => sum + block.rows, 0)
  }

  get bytes(): number {
    return this.#all().reduce((sum, block) => sum + block.bytes, 0)
  }

  add(block: LogBlock): void {
    this.#others.push(block)
  }

  /** Appends all of these rows or none: a row that can't be encoded must not damage the rows of other requests. */
  appendAll(rows: Iterable<Row>): void {
    const count = this.#blocks.length
    let block = this.#blocks[count - 1]!
    const undo = block.mark()
    try {
      for (const row of rows) {
        if (block.bytes > MAX_BLOCK_BYTES) {
          block = new NativeBlock(this.#columns)
          this.#blocks.push(block)
        }
        block.append(row)
      }
    } catch (error) {
      this.#blocks.length = count
      undo()
      throw error
    }
  }

  /** Removes all rows. Keeps the memory for the next ones, unless it is a lot. */
  clear(): void {
    this.#others.length = 0
    this.#blocks.length = 1
    if (this.#blocks[0]!.bytes > MAX_REUSED_BYTES) this.#blocks[0] = new NativeBlock(this.#columns)
    else this.#blocks[0]!.clear()
  }

  /** Splits the blocks into groups of about `maxBytes`, one for each segment. The first segment already holds `usedBytes`. */
  groups(maxBytes: number, usedBytes: number): LogBlock[][] {
    let group: LogBlock[] = []
    const groups = [group]
    let bytes = usedBytes
    for (const block of this.#all()) {
      if (block.rows === 0) continue
      if (bytes >= maxBytes && group.length > 0) {
        group = []
        groups.push(group)
        bytes = 0
      }
      group.push(block)
      bytes += block.bytes
    }
    return groups
  }

  #all(): LogBlock[] {
    return [...this.#blocks, ...this.#others]
  }
}
