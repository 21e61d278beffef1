import { visibleLines } from '@playhead/model'
import { expect, test } from 'vitest'
import { formatLength, splitText } from './long-text.tsx'

test('escapes control characters and marks that reorder text', () => {
  expect(visibleLines('a\u001B[31mred\u202Eevil\r\n\tb\0')).toBe('a\\x1b[31mred\\u202eevil\n\tb\\x00')
})

test('splits long text at line ends and never inside a character', () => {
  expect(splitText('one\ntwo\nthree', 9)).toEqual(['one\ntwo\n', 'three'])
  expect(splitText('ab😀cd', 3)).toEqual(['ab', '😀c', 'd'])
  expect(splitText('', 3)).toEqual([])
  expect(splitText('x'.repeat(10_000), 999).join('')).toBe('x'.repeat(10_000))
})

test('formats lengths in a fitting unit', () => {
  expect([12, 5_400, 5_200_000].map(formatLength)).toEqual(['12 characters', '5 KB', '5.2 MB'])
})
