import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { GrowingBuffer } from './growing-buffer.ts'

/**
 * A segment is a sequence of frames. A frame is a block in ClickHouse's Native format that begins with a column of its own,
 * of one byte per row. No table has this column, so ClickHouse skips it and a segment can be inserted as it is. The name of
 * the column holds, in hexadecimal: the segment's marker, the length of what follows this header, the number of rows, the
 * CRC-32 of what follows, and the CRC-32 of the header itself.
 */
export type FrameHeader = { columns: number; rows: number; length: number; checksum: number }

/** The columns of a block, encoded, without the block's head. */
export type EncodedBlock = { columns: number; rows: number; pieces: Buffer[] }

const MARKER_LENGTH = 16
const NAME_LENGTH = MARKER_LENGTH + 4 * 8
const type = '\x05UInt8'
/** With five bytes for the number of rows. Every frame is longer than this. */
const MAX_HEADER_BYTES = 2 + 5 + NAME_LENGTH + type.length

/** Random, so that text which somebody sent is never mistaken for a frame when the reader looks for the next one. */
export function newMarker(): string {
  return randomBytes(MARKER_LENGTH / 2).toString('hex')
}

export function toFrame(marker: string, { columns, rows, pieces }: EncodedBlock): Buffer[] {
  const body = [Buffer.alloc(rows), ...pieces]
  let [length, checksum] = [0, 0]
  for (const piece of body) {
    length += piece.length
    checksum = crc32(piece, checksum)
  }
  return [encodeHeader(marker, { columns: columns + 1, rows, length, checksum }), ...body]
}

/** The header at this position; undefined if it is not exactly one of this segment. */
function readHeader(bytes: Buffer, at: number, marker: string): FrameHeader | undefined {
  const nameAt = bytes.indexOf(marker, at)
  if (nameAt === -1 || nameAt > at + MAX_HEADER_BYTES) return undefined
  const header = { columns: bytes[at] ?? 0, ...factsAt(bytes, nameAt) }
  const expected = encodeHeader(marker, header)
  return expected.equals(bytes.subarray(at, at + expected.length)) ? header : undefined
}

function factsAt(bytes: Buffer, nameAt: number): Omit<FrameHeader, 'columns'> {
  const number = (index: number) => {
    const start = nameAt + MARKER_LENGTH + index * 8
    return Number.parseInt(bytes.toString('latin1', start, start + 8), 16)
  }
  return { length: number(0), rows: number(1), checksum: number(2) }
}

function encodeHeader(marker: string, { columns, rows, length, checksum }: FrameHeader): Buffer {
  const head = new GrowingBuffer(MAX_HEADER_BYTES)
  head.writeVarint(columns)
  head.writeVarint(rows)
  const facts = `${marker}${hex(length)}${hex(rows)}${hex(checksum)}`
  const name = `${facts}${hex(crc32(facts, columns))}`
  return Buffer.concat([
    head.contents(),
    Buffer.from(`${String.fromCharCode(NAME_LENGTH)}${name}${type}`, 'latin1'),
  ])
}

function headerBytes({ rows }: { rows: number }): number {
  let varint = 1
  for (let rest = rows; rest >= 0x80; rest = Math.floor(rest / 0x80)) varint += 1
  return 1 + varint + 1 + NAME_LENGTH + type.length
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

type Range = { start: number; end: number }
export type DamagedRange = Range & {
  /** The rows in it; undefined if unknown. */
  rows: number | undefined
  /** The end of the file is missing, as after a crash during a write. Such a write was never acknowledged. */
  isUnfinished: boolean
}

/** What is readable in a segment, and what is not. */
export type SegmentContents = { rows: number; blocks: number; readable: Range[]; damaged: DamagedRange[] }

/** Finds all undamaged frames, also those after a damaged one. */
export function readFrames(bytes: Buffer, marker: string): SegmentContents {
  const contents: SegmentContents = { rows: 0, blocks: 0, readable: [], damaged: [] }
  for (let start = 0; start < bytes.length;) {
    const header = readHeader(bytes, start, marker)
    const bodyAt = header === undefined ? Infinity : start + headerBytes(header)
    const end = bodyAt + (header?.length ?? 0)
    if (
      header !== undefined &&
      end <= bytes.length &&
      crc32(bytes.subarray(bodyAt, end)) === header.checksum
    ) {
      contents.readable.push({ start, end })
      contents.rows += header.rows
      contents.blocks += 1
      start = end
      continue
    }
    const next = findHeader(bytes, start + 1, marker)
    contents.damaged.push({
      start,
      end: next,
      rows: next === end ? header?.rows : undefined,
      isUnfinished:
        next === bytes.length && (header === undefined ? next < start + MAX_HEADER_BYTES : next < end),
    })
    start = next
  }
  return contents
}

/** Where the next intact header is; the end of the file if there is none. */
function findHeader(bytes: Buffer, from: number, marker: string): number {
  for (let nameAt = bytes.indexOf(marker, from); nameAt !== -1; nameAt = bytes.indexOf(marker, nameAt + 1)) {
    const at = nameAt + NAME_LENGTH + type.length - headerBytes(factsAt(bytes, nameAt))
    if (at >= from && readHeader(bytes, at, marker) !== undefined) return at
  }
  return bytes.length
}

/** Counts the rows of a segment while it is read in pieces, which may share their memory; undefined if any frame is damaged. */
export async function countRows(chunks: AsyncIterable<Buffer>, marker: string): Promise<number | undefined> {
  let rows = 0
  let rest: Buffer = Buffer.alloc(0)
  let current = { missing: 0, checksum: 0, expected: 0 }
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (at < bytes.length) {
      if (current.missing === 0) {
        if (bytes.length - at < MAX_HEADER_BYTES) break
        const header = readHeader(bytes, at, marker)
        if (header === undefined) return undefined
        at += headerBytes(header)
        rows += header.rows
        current = { missing: header.length, checksum: 0, expected: header.checksum }
      }
      const part = bytes.subarray(at, at + current.missing)
      current.checksum = crc32(part, current.checksum)
      current.missing -= part.length
      at += part.length
      if (current.missing === 0 && current.checksum !== current.expected) return undefined
    }
    rest = Buffer.from(bytes.subarray(at))
  }
  return rest.length > 0 || current.missing > 0 ? undefined : rows
}
