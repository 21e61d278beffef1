import { expect, test } from 'vitest'
import { previewJson, oneLine, previewOfArguments, previewOfValue } from './preview.ts'

test('a preview is one line of at most 200 characters with collapsed white space', () => {
  expect(oneLine('  a\n\n b\t c  ')).toBe('a b c')
  expect(oneLine(' \n ')).toBeUndefined()
  expect(oneLine('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`)
  expect(oneLine(`${' '.repeat(1000)}late`)).toBe('late')
})

test('a preview never ends in half a character', () => {
  expect(oneLine('😀'.repeat(200))?.at(-2)).toBe('\ude00')
})

test('arguments are previewed by name, a single unnamed one as JSON', () => {
  expect(previewOfArguments({ city: 'Paris', days: 3, deep: { a: [1] }, none: null })).toBe(
    'city=Paris, days=3, deep={"a":[1]}, none=null',
  )
  expect(previewOfArguments('billing_dispute')).toBe('"billing_dispute"')
  expect(previewOfArguments(5)).toBe('5')
  expect(previewOfArguments({})).toBeUndefined()
})

test('the preview of a conversation is its last message, of any other value its text or JSON', () => {
  expect(
    previewOfValue({
      messages: [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'last' },
      ],
    }),
  ).toBe('last')
  expect(previewOfValue({ text: 'the answer', files: [] })).toBe('the answer')
  expect(previewOfValue({ goal: 'weather' })).toBe('{"goal":"weather"}')
  expect(previewOfValue({})).toBeUndefined()
})

test('JSON in a preview stops at the maximum length', () => {
  const endless = Array.from({ length: 100_000 }, (_, index) => index)

  expect(previewJson(endless).length).toBeLessThan(220)
})
