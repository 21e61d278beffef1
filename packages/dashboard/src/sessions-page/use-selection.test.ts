import { expect, test } from 'vitest'
import { nothingSelected, selectRange, toggleAll, toggleOne } from './use-selection.ts'

const order = ['a', 'b', 'c', 'd']
const ids = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].sort()

test('toggles a row', () => {
  const one = toggleOne(nothingSelected, 'b')
  expect(ids(one)).toEqual(['b'])
  expect(ids(toggleOne(one, 'b'))).toEqual([])
})

test('Shift selects a range from the last row, in both directions', () => {
  const from = toggleOne(nothingSelected, 'c')
  expect(ids(selectRange(from, order, 'a'))).toEqual(['a', 'b', 'c'])
  expect(ids(selectRange(from, order, 'd'))).toEqual(['c', 'd'])
})

test('without a last row, Shift selects one row', () => {
  expect(ids(selectRange(nothingSelected, order, 'c'))).toEqual(['c'])
  expect(ids(selectRange({ ids: new Set(), anchor: 'gone' }, order, 'c'))).toEqual(['c'])
})

test('selects all, or none if all are selected', () => {
  const all = toggleAll(toggleOne(nothingSelected, 'b'), order)
  expect(ids(all)).toEqual(order)
  expect(ids(toggleAll(all, order))).toEqual([])
})
