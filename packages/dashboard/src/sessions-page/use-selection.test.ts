import { expect, test } from 'vitest'
import { nothingSelected, selectRange, toggleAll, toggleOne } from './use-selection.ts'

const order = ['a', 'b', 'c', 'd']
const ids = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].sort()

test('a row goes in and out', () => {
  const one = toggleOne(nothingSelected, 'b')
  expect(ids(one)).toEqual(['b'])
  expect(ids(toggleOne(one, 'b'))).toEqual([])
})

test('shift takes everything from the last one, upwards and downwards', () => {
  const from = toggleOne(nothingSelected, 'c')
  expect(ids(selectRange(from, order, 'a'))).toEqual(['a', 'b', 'c'])
  expect(ids(selectRange(from, order, 'd'))).toEqual(['c', 'd'])
})

test('without a beginning, shift takes the one row', () => {
  expect(ids(selectRange(nothingSelected, order, 'c'))).toEqual(['c'])
  expect(ids(selectRange({ ids: new Set(), anchor: 'gone' }, order, 'c'))).toEqual(['c'])
})

test('all, and none when all are chosen', () => {
  const all = toggleAll(toggleOne(nothingSelected, 'b'), order)
  expect(ids(all)).toEqual(order)
  expect(ids(toggleAll(all, order))).toEqual([])
})
