import { expect, test } from 'vitest'
import { isWholeTerm, suggest } from './suggest.ts'

const texts = (draft: string, values: { value: string; sessions: number }[] = []) =>
  suggest(draft, values).map(({ text }) => text)

test('suggests every key in an empty box', () => {
  expect(texts('').slice(0, 3)).toEqual(['status:', 'tag:', 'tool:'])
})

test('suggests the keys with a prefix, and a search for the word', () => {
  expect(texts('t')).toEqual(['tag:', 'tool:', 'thread:', 'test:', 'testFile:', 'to:', 't'])
  expect(texts('charged twice')).toEqual(['charged twice'])
})

test('suggests the values of a key, quoted if needed', () => {
  expect(texts('status:')).toEqual([
    'status:success',
    'status:fail',
    'status:indeterminate',
    'status:running',
    'status:lost',
  ])
  expect(texts('status:f')).toEqual(['status:fail'])
  expect(texts('tag:c', [{ value: 'ci nightly', sessions: 3 }])).toEqual(['tag:"ci nightly"'])
})

test('suggests to open a session by its id', () => {
  expect(suggest('s_abc12345', [])[0]).toEqual({
    kind: 'session',
    text: 'abc12345',
    label: 's_abc12345',
    hint: 'open this session',
  })
  expect(texts('face')).toEqual(['face'])
})

test('a space completes a term with a value, but not words or open quotes', () => {
  expect(isWholeTerm('tag:x')).toBe(true)
  expect(isWholeTerm('tag:"a b"')).toBe(true)
  expect(isWholeTerm('tag:"a')).toBe(false)
  expect(isWholeTerm('tag:')).toBe(false)
  expect(isWholeTerm('words')).toBe(false)
  expect(isWholeTerm('http://x')).toBe(false)
})
