import { expect, test } from 'vitest'
import { formatCost } from './format-cost.ts'
import { formatDuration, formatOffset } from './format-duration.ts'

test('costs keep two digits that mean something', () => {
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
