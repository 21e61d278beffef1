import { NativeBlock, type Columns } from './native-block.ts'

/** The engine works on a block at a time, and needs several times its size: larger ones exceed its memory. */
const MAX_BLOCK_BYTES = 8 * 1024 * 1024
const MAX_KEPT_BYTES = 2 * MAX_BLOCK_BYTES

/** Rows that wait to be written, as blocks in ClickHouse's Native format. */
export class PendingRows<Row> {
  readonly #columns: Columns<Row>
  readonly #blocks: NativeBlock<Row>[]

  constructor(columns: Columns<Row>) {
    this.#columns = columns
    this.#blocks = [new NativeBlock(columns)]
  }

  get rows(): number {
    return this.#blocks.reduce((sum, block) => sum + block.rows, 0)
  }

  get bytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.bytes, 0)
  }

  /** Appends all of these rows, or none when one of them can't be written: the others are of other requests. */
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

  /** Empties it for the next rows, in the memory of these ones unless that is a lot. */
  clear(): void {
    this.#blocks.length = 1
    if (this.#blocks[0]!.bytes > MAX_KEPT_BYTES) this.#blocks[0] = new NativeBlock(this.#columns)
    else this.#blocks[0]!.clear()
  }

  /** The blocks in groups of about this size, which end where a segment has to; the first one has `taken` less. */
  groups(maxBytes: number, taken: number): NativeBlock<Row>[][] {
    let group: NativeBlock<Row>[] = []
    const groups = [group]
    let bytes = taken
    for (const block of this.#blocks) {
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
}
