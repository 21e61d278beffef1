import { readFrames } from './frames.ts'
import { findColumns, type ColumnPlace } from './whole-blocks.ts'

/** A value as the log has it: times are numbers since 1970, in the unit of their column. */
export type LoggedValue = string | bigint | null

/**
 * Reads some columns of a segment, row by row: texts, whole numbers of 64 bits and times. Undefined if a part of the segment is
 * damaged, which is for whoever flushes it to report.
 */
export function readColumns<Name extends string>(
  bytes: Buffer,
  { marker, names }: { marker: string; names: readonly Name[] },
): Record<Name, LoggedValue>[] | undefined {
  const { readable, damaged } = readFrames(bytes, marker)
  if (damaged.length > 0) return undefined
  return readable.flatMap(({ start, end }) => readBlock(bytes.subarray(start, end), names))
}

function readBlock<Name extends string>(block: Buffer, names: readonly Name[]): Record<Name, LoggedValue>[] {
  const { rows, columns } = findColumns(block)
  const values = names.map((name) => readValues(block, columns.get(name)!, rows))
  return Array.from(
    { length: rows },
    (_, row) =>
      Object.fromEntries(names.map((name, index) => [name, values[index]![row]!])) as Record<
        Name,
        LoggedValue
      >,
  )
}

const NULLABLE = 'Nullable('

function readValues(block: Buffer, { type, at }: ColumnPlace, rows: number): LoggedValue[] {
  if (type === 'String') return readTexts(block, at, rows)
  const isNullable = type.startsWith(NULLABLE)
  const numbersAt = isNullable ? at + rows : at
  return Array.from({ length: rows }, (_, row) =>
    isNullable && block[at + row] === 1 ? null : block.readBigInt64LE(numbersAt + 8 * row),
  )
}

function readTexts(block: Buffer, start: number, rows: number): string[] {
  let at = start
  return Array.from({ length: rows }, () => {
    let length = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = block[at++]!
      length += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    at += length
    return block.toString('utf8', at - length, at)
  })
}
