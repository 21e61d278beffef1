import { formatAge, countOf, formatBytes, formatCount } from '../index.ts'
import { expect, test } from 'vitest'

test('how long ago something was, in the unit that fits', () => {
  const now = Date.parse('2026-03-31T12:00:00Z')
  const times = [
    '2026-03-31T12:00:30Z',
    '2026-03-31T11:59:48Z',
    '2026-03-31T11:01:00Z',
    '2026-03-30T12:00:01Z',
    '2026-03-29T12:00:00Z',
    '2026-01-01T12:00:00Z',
    'never',
  ]

  expect(times.map((time) => formatAge(time, now))).toEqual([
    '0s ago',
    '12s ago',
    '59m ago',
    '23h ago',
    '2d ago',
    '2026-01-01',
    '–',
  ])
})

test('counts and bytes are readable at any size', () => {
  expect([0, 999, 12_345, 1_234_567].map(formatCount)).toEqual(['0', '999', '12,345', '1.2M'])
  expect([0, 999, 1000, 999_999, 4_200_000_000].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '1.0 MB',
    '4.2 GB',
  ])
  expect([countOf(1, 'session'), countOf(1200, 'session')]).toEqual(['1 session', '1,200 sessions'])
})
