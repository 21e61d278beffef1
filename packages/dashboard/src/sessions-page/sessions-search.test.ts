import { expect, test } from 'vitest'
import { parseSort, toggleSort, writeSort } from './sessions-search.ts'

test('the address names the column; - reverses the order', () => {
  expect(parseSort('cost')).toEqual({ column: 'cost', isAscending: false })
  expect(parseSort('-duration')).toEqual({ column: 'duration', isAscending: true })
  expect(parseSort(undefined)).toEqual({ column: 'time', isAscending: false })
  expect(parseSort('; DROP TABLE')).toEqual({ column: 'time', isAscending: false })
})

test('newest first is the default', () => {
  expect(writeSort(parseSort('time'))).toBeUndefined()
  expect(writeSort(parseSort('-time'))).toBe('-time')
  expect(writeSort(parseSort('cost'))).toBe('cost')
})

test('a click sorts descending, the next one ascending', () => {
  const once = toggleSort(parseSort(undefined), 'cost')
  expect(once).toEqual({ column: 'cost', isAscending: false })
  expect(toggleSort(once, 'cost')).toEqual({ column: 'cost', isAscending: true })
})
