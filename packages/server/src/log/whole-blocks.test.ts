import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NativeBlock, type Columns } from './native-block.ts'
import { wholeBlocks } from './whole-blocks.ts'

type Row = {
  name: string
  count: number
  at: bigint
  ended: bigint | null
  tags: string[]
  costs: (number | null)[]
  usage: Record<string, number>
}
const columns: Columns<Row> = {
  name: { type: 'String', value: (row) => row.name },
  count: { type: 'UInt32', value: (row) => row.count },
  at: { type: "DateTime64(9, 'UTC')", value: (row) => row.at },
  ended: { type: "Nullable(DateTime64(9, 'UTC'))", value: (row) => row.ended },
  tags: { type: 'Array(String)', value: (row) => row.tags },
  costs: { type: 'Array(Nullable(Float64))', value: (row) => row.costs },
  usage: { type: 'Map(String, UInt64)', value: (row) => row.usage },
}

const anyRow = fc.record({
  name: fc.string({ unit: 'binary', maxLength: 300 }),
  count: fc.nat(),
  at: fc.bigInt(0n, 2n ** 62n),
  ended: fc.option(fc.bigInt(0n, 2n ** 62n)),
  tags: fc.array(fc.string()),
  costs: fc.array(fc.option(fc.double())),
  usage: fc.dictionary(fc.string(), fc.nat()),
})

function encode(rows: readonly Row[]): Buffer {
  const block = new NativeBlock(columns)
  for (const row of rows) block.append(row)
  return Buffer.concat(block.pieces())
}

test('a segment truncated anywhere keeps exactly the complete blocks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyRow, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (batches, share) => {
        const blocks = batches.map(encode)
        const file = Buffer.concat(blocks)
        const cut = Math.floor(file.length * share)

        const whole = wholeBlocks(file.subarray(0, cut))

        let [length, rows, count] = [0, 0, 0]
        for (const [index, block] of blocks.entries()) {
          if (length + block.length > cut) break
          length += block.length
          rows += batches[index]!.length
          count += 1
        }
        expect(whole).toEqual({ length, rows, blocks: count })
      },
    ),
  )
})

test('ignores garbage after the last block', () => {
  const block = encode([{ name: 'a', count: 1, at: 0n, ended: null, tags: [], costs: [], usage: {} }])

  expect(wholeBlocks(Buffer.concat([block, Buffer.alloc(4096)]))).toEqual({
    length: block.length,
    rows: 1,
    blocks: 1,
  })
  expect(wholeBlocks(Buffer.alloc(100, 0xff))).toEqual({ length: 0, rows: 0, blocks: 0 })
})
