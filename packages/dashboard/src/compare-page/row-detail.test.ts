import { expect, test } from 'vitest'
import { readableValue } from './row-detail.tsx'

test('keys that come in another order read the same', () => {
  expect(readableValue({ b: 1, a: { d: 2, c: 3 } })).toBe(readableValue({ a: { c: 3, d: 2 }, b: 1 }))
})

test('an answer of a model reads as what it said and what it called', () => {
  expect(readableValue({ text: 'Let me see.', calls: [{ name: 'search', arguments: { q: 'x' } }] })).toBe(
    'Let me see.\nsearch({\n  "q": "x"\n})',
  )
})

test('the messages of a prompt are paragraphs; texts are themselves; nothing is nothing', () => {
  expect(readableValue(['system: be brief', 'user: hello'])).toBe('system: be brief\n\nuser: hello')
  expect([readableValue('null'), readableValue(null), readableValue(undefined)]).toEqual(['null', 'null', ''])
})
