import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonErrorPosition } from './json-error-position.ts'

function positionOf(text: string): number {
  try {
    JSON.parse(text)
  } catch (error) {
    return findJsonErrorPosition(text, (error as Error).message)
  }
  throw new Error('the text is valid')
}

test.each([
  ['', 0],
  ['   ', 3],
  ['hello', 0],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ['{"a":}', 5],
  ['{a:1}', 1],
  ['[1,,2]', 3],
  ['[1 2]', 3],
  ['[1}', 2],
  ['{"a":1]', 6],
  ['{"a":"b\\"c", x}', 13],
  ['[true, nul]', 7],
  ['[1]]', 3],
  ['{"a":[{"b":"c"}', 15],
  ['"abc\ndef"', 4],
  ['"position 3', 11],
  ['[01]', 2],
])('%j has its error at %i', (text, position) => {
  expect(positionOf(text)).toBe(position)
})

/** V8 reports only that the text ends. */
function couldGoOn(start: string): boolean {
  try {
    JSON.parse(start)
    return true
  } catch (error) {
    const { message } = error as Error
    return /Unexpected end|Unterminated/.test(message) || message.includes(` at position ${start.length} (`)
  }
}

test('everything before the position could start valid JSON', () => {
  const inserted = fc.constantFrom('}', ']', ',', ':', 'x', '"', '{', '1', ' ', '\n')
  fc.assert(
    fc.property(fc.json(), fc.nat(), inserted, (valid, at, character) => {
      const index = at % (valid.length + 1)
      const text = valid.slice(0, index) + character + valid.slice(index)
      fc.pre(!isValid(text))
      const position = positionOf(text)
      expect([text.slice(0, position), couldGoOn(text.slice(0, position))]).toEqual([
        text.slice(0, position),
        true,
      ])
    }),
    { numRuns: 2000 },
  )
})

function isValid(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
