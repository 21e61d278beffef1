import { visibleLines } from '@playhead/model'
import { expect, test } from 'vitest'
import { formatLength, splitText } from './readable-text.ts'

test('escape codes and marks that reorder text are shown as what they are', () => {
  expect(visibleLines('a\u001B[31mred\u202Eevil\r\n\tb\0')).toBe('a\\x1b[31mred\\u202eevil\n\tb\\x00')
})

test('long text is cut at line ends, and never inside a character', () => {
  expect(splitText('one\ntwo\nthree', 9)).toEqual(['one\ntwo\n', 'three'])
  expect(splitText('ab😀cd', 3)).toEqual(['ab', '😀c', 'd'])
  expect(splitText('', 3)).toEqual([])
  expect(splitText('x'.repeat(10_000), 999).join('')).toBe('x'.repeat(10_000))
})

test('lengths are said in the unit that fits', () => {
  expect([12, 5_400, 5_200_000].map(formatLength)).toEqual(['12 characters', '5 KB', '5.2 MB'])
})
