import { expect, test } from 'vitest'
import { presetOf, previousRange, resolveRange } from './time-range.ts'

const NOW = Date.parse('2026-05-14T12:00:00.000Z')

test('recognises presets', () => {
  expect(presetOf({})).toBe('all')
  expect(presetOf({ from: '7d' })).toBe('7d')
  expect(presetOf({ from: '3h' })).toBeUndefined()
  expect(presetOf({ from: '7d', to: '1d' })).toBeUndefined()
})

test('resolves ages and ISO times', () => {
  expect(resolveRange({ from: '24h' }, NOW)).toEqual({ fromMs: NOW - 86_400_000, toMs: NOW })
  expect(resolveRange({ from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' }, NOW)).toEqual({
    fromMs: Date.UTC(2026, 4, 1),
    toMs: Date.UTC(2026, 4, 2),
  })
  expect(resolveRange({}, NOW)).toEqual({ fromMs: undefined, toMs: NOW })
})

test('the previous period has the same length and ends where this one starts', () => {
  expect(previousRange({ from: '24h' }, NOW)).toEqual({
    from: '2026-05-12T12:00:00.000Z',
    to: '2026-05-13T12:00:00.000Z',
  })
  expect(previousRange({}, NOW)).toBeUndefined()
})
