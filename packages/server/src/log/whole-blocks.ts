import { widths } from './column-writers.ts'

/** The complete blocks at the start of a segment. Everything after them was never acknowledged. */
export type WholeBlocks = { length: number; rows: number; blocks: number }

/** Finds the complete Native blocks of a segment. A crash during a write leaves part of a block at the end. */
export function wholeBlocks(bytes: Buffer): WholeBlocks {
  const walker = new BlockWalker(bytes)
  let whole: WholeBlocks = { length: 0, rows: 0, blocks: 0 }
  while (walker.at < bytes.length) {
    const rows = walker.skipBlock()
    if (rows === undefined) break
    whole = { length: walker.at, rows: whole.rows + rows, blocks: whole.blocks + 1 }
  }
  return whole
}

/** Where the values of a column begin. */
export type ColumnPlace = { type: string; at: number }

/** Finds the columns of a complete block. */
export function findColumns(block: Buffer): { rows: number; columns: Map<string, ColumnPlace> } {
  const columns = new Map<string, ColumnPlace>()
  const rows = new BlockWalker(block).skipBlock((name, place) => columns.set(name, place))
  return { rows: rows ?? 0, columns }
}

// More than any of our tables has. Bytes that claim more columns are not a block.
const MAX_COLUMNS = 200

class BlockWalker {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Moves past the block that starts here and returns its row count; undefined if the block is incomplete. */
  skipBlock(onColumn?: (name: string, place: ColumnPlace) => void): number | undefined {
    const columns = this.#varint()
    const rows = this.#varint()
    if (columns === undefined || rows === undefined || columns === 0 || columns > MAX_COLUMNS)
      return undefined
    for (let column = 0; column < columns; column++) {
      const name = this.#string()
      const type = this.#string()
      if (name === undefined || type === undefined) return undefined
      onColumn?.(name, { type, at: this.at })
      if (!this.#skipColumn(type, rows)) return undefined
    }
    return rows
  }

  #skipColumn(type: string, rows: number): boolean {
    if (type === 'String') return this.#skipStrings(rows)
    if (type.startsWith('DateTime64')) return this.#skip(rows * 8)
    const width = (widths as Record<string, number | undefined>)[type]
    if (width !== undefined) return this.#skip(rows * width)
    const [outer, inner] = splitType(type)
    if (outer === 'Nullable') return this.#skip(rows) && this.#skipColumn(inner, rows)
    const items = this.#skipEnds(rows)
    if (items === undefined) return false
    if (outer === 'Array') return this.#skipColumn(inner, items)
    if (outer !== 'Map') return false
    return inner.split(', ').every((part) => this.#skipColumn(part, items))
  }

  /** Arrays and maps start with the end offset of each row; the last offset is the number of items. */
  #skipEnds(rows: number): number | undefined {
    if (rows === 0) return 0
    if (!this.#skip(rows * 8)) return undefined
    const items = Number(this.#bytes.readBigUInt64LE(this.at - 8))
    return items <= this.#bytes.length ? items : undefined
  }

  #skipStrings(rows: number): boolean {
    for (let row = 0; row < rows; row++) {
      const length = this.#varint()
      if (length === undefined || !this.#skip(length)) return false
    }
    return true
  }

  #skip(count: number): boolean {
    this.at += count
    return this.at <= this.#bytes.length
  }

  #varint(): number | undefined {
    let value = 0
    for (let shift = 1; this.at < this.#bytes.length && shift < 2 ** 50; shift *= 0x80) {
      const byte = this.#bytes[this.at++]!
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
    }
    return undefined
  }

  #string(): string | undefined {
    const length = this.#varint()
    if (length === undefined || length > 200 || !this.#skip(length)) return undefined
    return this.#bytes.toString('latin1', this.at - length, this.at)
  }
}

function splitType(type: string): [outer: string, inner: string] {
  const open = type.indexOf('(')
  return open === -1 ? [type, ''] : [type.slice(0, open), type.slice(open + 1, -1)]
}
