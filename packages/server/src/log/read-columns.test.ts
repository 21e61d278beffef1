import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newMarker, toFrame } from './frames.ts'
import { NativeBlock, type Columns } from './native-block.ts'
import { readColumns } from './read-columns.ts'

type Row = {
  name: string
  tags: string[]
  version: number
  ended: bigint | null
  usage: Record<string, number>
}

const columns: Columns<Row> = {
  tags: { type: 'Array(String)', value: (row) => row.tags },
  name: { type: 'String', value: (row) => row.name },
  version: { type: 'UInt64', value: (row) => row.version },
  usage: { type: 'Map(String, UInt64)', value: (row) => row.usage },
  ended: { type: "Nullable(DateTime64(9, 'UTC'))", value: (row) => row.ended },
}

const anyRow = fc.record({
  name: fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.toWellFormed()),
  tags: fc.array(fc.string()),
  version: fc.nat(),
  ended: fc.option(fc.bigInt(-(2n ** 62n), 2n ** 62n)),
  usage: fc.dictionary(fc.string(), fc.nat()),
})

const marker = newMarker()

function encode(batches: readonly Row[][]): Buffer {
  return Buffer.concat(
    batches.flatMap((rows) => {
      const block = new NativeBlock(columns)
      for (const row of rows) block.append(row)
      return toFrame(marker, block.withConstant('segment', 7n))
    }),
  )
}

test('columns of a segment are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyRow, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), (batches) => {
      expect(
        readColumns(encode(batches), { marker, names: ['ended', 'name', 'version', 'segment'] }),
      ).toEqual(
        batches
          .flat()
          .map(({ ended, name, version }) => ({ ended, name, version: BigInt(version), segment: 7n })),
      )
    }),
  )
})

test('a damaged segment is not read', () => {
  const bytes = encode([[{ name: 'one', tags: [], version: 1, ended: null, usage: {} }]])
  bytes[bytes.length - 1]! ^= 1
  expect(readColumns(bytes, { marker, names: ['name'] })).toBeUndefined()
})
