import { expect, test } from 'vitest'
import { readableValue } from './row-detail.tsx'

test('the order of keys does not matter', () => {
  expect(readableValue({ b: 1, a: { d: 2, c: 3 } })).toBe(readableValue({ a: { c: 3, d: 2 }, b: 1 }))
})

test('a model response shows its text and its tool calls', () => {
  expect(readableValue({ text: 'Let me see.', calls: [{ name: 'search', arguments: { q: 'x' } }] })).toBe(
    'Let me see.\nsearch({\n  "q": "x"\n})',
  )
})

test('messages are paragraphs, text stays as it is, and undefined is empty', () => {
  expect(readableValue(['system: be brief', 'user: hello'])).toBe('system: be brief\n\nuser: hello')
  expect([readableValue('null'), readableValue(null), readableValue(undefined)]).toEqual(['null', 'null', ''])
})
