import { expect, test } from 'vitest'
import { parseSort, toggleSort, writeSort } from './sessions-search.ts'

test('the address says the column, and - the other way round', () => {
  expect(parseSort('cost')).toEqual({ column: 'cost', isAscending: false })
  expect(parseSort('-duration')).toEqual({ column: 'duration', isAscending: true })
  expect(parseSort(undefined)).toEqual({ column: 'time', isAscending: false })
  expect(parseSort('; DROP TABLE')).toEqual({ column: 'time', isAscending: false })
})

test('newest first needs no word in the address', () => {
  expect(writeSort(parseSort('time'))).toBeUndefined()
  expect(writeSort(parseSort('-time'))).toBe('-time')
  expect(writeSort(parseSort('cost'))).toBe('cost')
})

test('a click sorts by most first, the next by least first', () => {
  const once = toggleSort(parseSort(undefined), 'cost')
  expect(once).toEqual({ column: 'cost', isAscending: false })
  expect(toggleSort(once, 'cost')).toEqual({ column: 'cost', isAscending: true })
})
