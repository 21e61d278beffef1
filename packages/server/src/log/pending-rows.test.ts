import { expect, test } from 'vitest'
import { EncodedRows, NativeBlock, type Columns } from './native-block.ts'
import { PendingRows } from './pending-rows.ts'
import { wholeBlocks } from './whole-blocks.ts'

const MB = 1024 * 1024
type Row = { text: string; numbers: Record<string, number>; tags: string[] }
const columns: Columns<Row> = {
  text: { type: 'String', value: ({ text }) => text },
  numbers: { type: 'Map(String, UInt64)', value: ({ numbers }) => numbers },
  tags: { type: 'Array(String)', value: ({ tags }) => tags },
}

function rowsOf(count: number, bytes: number) {
  return Array.from({ length: count }, () => ({
    text: 'x'.repeat(bytes),
    numbers: { one: 1 },
    tags: ['a', 'b'],
  }))
}

function writtenRows(pending: PendingRows<Row>): number[] {
  return pending.groups(20 * MB, 0).map((blocks) => {
    const bytes = Buffer.concat(blocks.flatMap((block) => (block as NativeBlock<Row>).pieces()))
    const whole = wholeBlocks(bytes)
    expect(whole.length).toBe(bytes.length)
    return whole.rows
  })
}

test('splits many rows into blocks that fit the engine and groups that fit a segment', () => {
  const pending = new PendingRows(columns)

  pending.appendAll(rowsOf(50, 1 * MB))

  expect(pending.rows).toBe(50)
  expect(pending.bytes).toBeGreaterThan(50 * MB)
  const groups = writtenRows(pending)
  expect(groups.length).toBeGreaterThan(1)
  expect(groups.reduce((sum, rows) => sum + rows, 0)).toBe(50)
  expect(Math.max(...groups)).toBeLessThan(35)
})

test('a request whose last row cannot be encoded leaves nothing behind, even if it filled several blocks', () => {
  const pending = new PendingRows(columns)
  pending.appendAll(rowsOf(2, 100))
  const before = pending.bytes
  const broken = { text: undefined as unknown as string, numbers: {}, tags: [] }

  expect(() => pending.appendAll([...rowsOf(30, 1 * MB), broken])).toThrow(TypeError)

  expect([pending.rows, pending.bytes]).toEqual([2, before])
  pending.appendAll(rowsOf(1, 100))
  expect(writtenRows(pending)).toEqual([3])
})

test('after clear, encodes rows exactly like a new instance', () => {
  const [used, fresh] = [new PendingRows(columns), new PendingRows(columns)]
  used.appendAll(rowsOf(12, 1 * MB))
  used.clear()

  for (const pending of [used, fresh]) pending.appendAll(rowsOf(3, 50))

  const bytesOf = (pending: PendingRows<Row>) =>
    Buffer.concat(
      pending
        .groups(MB, 0)
        .flatMap((blocks) => blocks.flatMap((block) => (block as NativeBlock<Row>).pieces())),
    )
  expect(used.rows).toBe(3)
  expect(bytesOf(used)).toEqual(bytesOf(fresh))
})

test('takes blocks that were encoded elsewhere, and forgets them with the others', () => {
  const elsewhere = new NativeBlock(columns)
  for (const row of rowsOf(3, 100)) elsewhere.append(row)
  const contents = Buffer.concat(elsewhere.columnPieces())
  const pending = new PendingRows(columns)
  pending.appendAll(rowsOf(2, 100))

  pending.add(new EncodedRows({ rows: 3, columns: 3, contents }))

  expect(pending.rows).toBe(5)
  const [own, other] = pending.groups(20 * MB, 0).flat()
  expect(own!.rows).toBe(2)
  const expected = elsewhere.withConstant('segment', 7n)
  const taken = other!.withConstant('segment', 7n)
  expect({ ...taken, pieces: Buffer.concat(taken.pieces) }).toEqual({
    ...expected,
    pieces: Buffer.concat(expected.pieces),
  })
  pending.clear()
  expect([pending.rows, pending.groups(20 * MB, 0).flat()]).toEqual([0, []])
})
