import { expect, test } from 'vitest'
import { splitSentence } from './split-sentence.ts'

test('steps that a sentence names become links, and the text stays whole', () => {
  const sentence = 'Step 3 lookup got null from step 12, not from the doorstep 4 times.'
  const parts = splitSentence(sentence)
  expect(parts.flatMap(({ number }) => number ?? [])).toEqual([3, 12])
  expect(parts.map(({ text }) => text).join('')).toBe(sentence)
  expect(splitSentence('Nothing to link.')).toEqual([{ text: 'Nothing to link.' }])
})
