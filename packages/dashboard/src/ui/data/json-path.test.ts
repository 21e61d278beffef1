import { expect, test } from 'vitest'
import { textOfValue } from '@playhead/model'
import { describeSize, joinPath, readJsonText } from './json-path.ts'

test('paths are written as in code', () => {
  expect(joinPath('', 'orders')).toBe('orders')
  expect(joinPath(joinPath(joinPath('', 'orders'), 2), 'id')).toBe('orders[2].id')
  expect(joinPath('a', 'odd key"')).toBe('a["odd key\\""]')
  expect(joinPath('', 0)).toBe('[0]')
})

test('values are copied as text or as JSON', () => {
  expect(textOfValue('as it is')).toBe('as it is')
  expect(textOfValue({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}')
  expect(textOfValue(undefined)).toBe('undefined')
})

test('parses JSON and leaves other text alone', () => {
  expect(readJsonText('{"a":1}')).toEqual({ a: 1 })
  expect(readJsonText('{not json')).toBe('{not json')
  expect(readJsonText('42')).toBe('42')
})

test('sizes are counted in items and keys', () => {
  expect(describeSize([1])).toBe('1 item')
  expect(describeSize({ a: 1, b: 2 })).toBe('2 keys')
})
