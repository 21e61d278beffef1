import { expect, test } from 'vitest'
import { countOf, formatBytes, formatCost, formatCount } from './format-number.ts'
import { formatAge, formatDuration, formatOffset } from './format-time.ts'
import { visibleText } from './visible-text.ts'

test('costs keep two significant digits', () => {
  const costs = [0, 1234.5, 12.345, 1, 0.999, 0.5, 0.12, 0.01728, 0.0031, 0.003, 0.00000016]

  expect(costs.map(formatCost)).toEqual([
    '$0',
    '$1234.50',
    '$12.35',
    '$1.00',
    '$1.00',
    '$0.50',
    '$0.12',
    '$0.017',
    '$0.0031',
    '$0.003',
    '$0.00000016',
  ])
})

test('durations are short, offsets exact', () => {
  expect([0.4, 850, 999.6, 4200, 59_949, 59_950, 83_000, 3_600_000, 7_500_000].map(formatDuration)).toEqual([
    '0ms',
    '850ms',
    '1.0s',
    '4.2s',
    '59.9s',
    '1m 00s',
    '1m 23s',
    '1h 00m',
    '2h 05m',
  ])
  expect([0, 1890.4, 61_001, 6_000_000].map(formatOffset)).toEqual([
    '00:00.000',
    '00:01.890',
    '01:01.001',
    '100:00.000',
  ])
})

test('an age is shown in the unit that fits', () => {
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

test('text of several lines is shown on one, and control characters are visible', () => {
  const lines = ['Error: no customer', '  at find (a.ts:1)', '', 'tab\tend\r'].join('\r\n')
  expect([lines, 'a\nb', '\u001B[31mred\u0000', 'x\u202Ey'].map(visibleText)).toEqual([
    'Error: no customer at find (a.ts:1) tab end ',
    'a b',
    String.raw`\x1b[31mred\x00`,
    String.raw`x\u202ey`,
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
