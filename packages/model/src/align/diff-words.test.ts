import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffWords } from './diff-words.ts'

const textOf = (side: 'a' | 'b', pieces: ReturnType<typeof diffWords>) =>
  pieces.map(({ kind, text }) => (kind === 'same' || kind === side ? text : '')).join('')

test('differing words are separated from common ones', () => {
  expect(diffWords('Answer with one word: billing.', 'Answer with two words: billing.')).toEqual([
    { kind: 'same', text: 'Answer with ' },
    { kind: 'a', text: 'one word' },
    { kind: 'b', text: 'two words' },
    { kind: 'same', text: ': billing.' },
  ])
})

test('both texts can be rebuilt from the pieces', () => {
  const text = fc
    .array(fc.constantFrom('the', 'cat', ' ', '\n', 'sat', '.', 'né', '🙂'))
    .map((words) => words.join(''))
  fc.assert(
    fc.property(text, text, (a, b) => {
      const pieces = diffWords(a, b)
      expect([textOf('a', pieces), textOf('b', pieces)]).toEqual([a, b])
    }),
  )
})

test('long texts are compared line by line', () => {
  const lines = Array.from({ length: 12_000 }, (_, index) => `line ${index}\n`)
  const changed = lines.with(6000, 'another line\n')
  const pieces = diffWords(lines.join(''), changed.join(''))
  expect(pieces.map(({ kind }) => kind)).toEqual(['same', 'a', 'b', 'same'])
})
