import { expect, test } from 'vitest'
import { parseJsonText, recallingJson } from './json-text.ts'

const text = JSON.stringify({ items: Array.from({ length: 20 }, (_, index) => ({ index })) })

test('a text that was parsed lately is recalled where that is asked for, and nowhere else', () => {
  const first = recallingJson(() => parseJsonText(text))
  const again = recallingJson(() => parseJsonText(`${text.slice(0, 50)}${text.slice(50)}`))

  expect(first).toEqual(JSON.parse(text))
  expect(again).toBe(first)
  expect(parseJsonText(text)).not.toBe(first)
  expect(parseJsonText(text)).toEqual(first)
})

test('another text of the same length is another value', () => {
  const other = text.replace('0', '9')

  expect(recallingJson(() => [parseJsonText(text), parseJsonText(other)])).toEqual([
    JSON.parse(text),
    JSON.parse(other),
  ])
})

test('nothing is recalled after an error', () => {
  const fail = () => {
    throw new Error('a dialect failed')
  }

  expect(() => recallingJson(fail)).toThrow('a dialect failed')
  expect(parseJsonText(text)).not.toBe(parseJsonText(text))
})
