import { expect, test } from 'vitest'
import { parsePlainSearch, pickTexts, withoutEmpty, writePlainSearch } from './search-params.ts'

test('every value survives a round trip', () => {
  for (const q of [
    'status:fail cost:>0.01 "charged twice"',
    '123',
    'true',
    '{"a":1}',
    'a+b & c=d #e',
    '100%',
  ])
    expect(parsePlainSearch(writePlainSearch({ q, from: '24h' }))).toEqual({ q, from: '24h' })
})

test('addresses stay readable', () => {
  expect(writePlainSearch({ q: 'status:fail tool:a/b cost:>1', from: undefined, to: '' })).toBe(
    '?q=status:fail+tool:a/b+cost:>1',
  )
  expect(writePlainSearch({})).toBe('')
})

test('picks only parameters that are present', () => {
  expect(pickTexts({ q: 'x', from: '', to: 5, other: 'y' }, ['q', 'from', 'to'])).toEqual({ q: 'x' })
})

test('leaves empty parameters out', () => {
  expect(withoutEmpty({ q: '', from: undefined, to: '1d' })).toEqual({ to: '1d' })
})
