import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TextTable } from './text-table.ts'

test('has the latest text of each key', () => {
  const anyText = fc.string({ unit: 'grapheme', maxLength: 20 })
  fc.assert(
    fc.property(fc.array(fc.tuple(anyText, anyText), { maxLength: 50 }), (entries) => {
      const table = new TextTable()
      for (const [key, text] of entries) table.set(key, text)
      const expected = new Map(entries)
      expect(table.size).toBe(expected.size)
      for (const [key, text] of expected) expect(table.get(key)).toBe(text)
      expect(table.get('another key, which is longer')).toBeUndefined()
    }),
  )
})

test('holds a hundred thousand keys, and leaves out a text that is too large', () => {
  const table = new TextTable()
  for (let index = 0; index < 100_000; index++) table.set(`key ${index}`, `text ${index}`)
  for (let index = 0; index < 100_000; index += 2) table.set(`key ${index}`, `new ${index}`)
  expect(table.size).toBe(100_000)
  for (let index = 0; index < 100_000; index += 997)
    expect(table.get(`key ${index}`)).toBe(index % 2 === 0 ? `new ${index}` : `text ${index}`)
  table.set('large', 'x'.repeat(2_000_000))
  expect(table.get('large')).toBeUndefined()
  expect(table.size).toBe(100_000)
})

test('an emptied table takes no more memory than it has', () => {
  const table = new TextTable()
  const fill = () => {
    for (let index = 0; index < 20_000; index++) table.set(`key ${index}`, 'x'.repeat(100))
  }
  fill()
  const { bytes } = table
  table.clear()
  expect([table.size, table.bytes, table.get('key 7')]).toEqual([0, 0, undefined])
  fill()
  expect(table.bytes).toBe(bytes)
})
