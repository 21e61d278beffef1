import { expect, test } from 'vitest'
import { RowSlots } from './row-slots.ts'

const rowsAt = (indices: readonly number[], looksOf: (index: number) => string = () => '') =>
  indices.map((index) => ({ index, looks: looksOf(index) }))

test('a row keeps its slot while the list scrolls, and the new row takes the one that got free', () => {
  const slots = new RowSlots()

  const before = slots.assign(rowsAt([10, 11, 12, 13]))
  const after = slots.assign(rowsAt([11, 12, 13, 14]))

  expect(after).toEqual([...before.slice(1), before[0]])
})

test('after a jump, the slots stay where they are on the screen', () => {
  const slots = new RowSlots()
  slots.assign(rowsAt([10, 11, 12, 13]))
  const scrolled = slots.assign(rowsAt([12, 13, 14, 15]))

  expect(slots.assign(rowsAt([900, 901, 902, 903]))).toEqual(scrolled)
})

test('after a jump, a row takes the slot of one that looked the same, and the others stay where they are', () => {
  const slots = new RowSlots()
  const isEven = (index: number) => (index % 2 === 0 ? 'even' : 'odd')
  const before = slots.assign(rowsAt([10, 11, 12, 13], isEven))

  expect(slots.assign(rowsAt([901, 902, 903, 904], isEven))).toEqual([
    before[1],
    before[0],
    before[3],
    before[2],
  ])
  expect(slots.assign(rowsAt([20, 21, 22, 23], () => 'new'))).toEqual([
    before[1],
    before[0],
    before[3],
    before[2],
  ])
})

test('no two rows share a slot when the list gets longer, shorter and longer again', () => {
  const slots = new RowSlots()
  for (const [from, count] of [
    [0, 3],
    [2, 40],
    [30, 5],
    [500, 60],
  ] as const) {
    const assigned = slots.assign(rowsAt(Array.from({ length: count }, (_, index) => from + index)))

    expect(new Set(assigned).size).toBe(count)
  }
})
