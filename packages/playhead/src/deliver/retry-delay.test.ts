import { expect, test } from 'vitest'
import { readRetryAfter, retryDelayMs } from './retry-delay.ts'

test('each failure doubles the delay up to 30 seconds, and jitter removes up to half of it', () => {
  expect([1, 2, 3, 8, 50].map((failures) => retryDelayMs(failures, undefined, 1))).toEqual([
    250, 500, 1000, 30_000, 30_000,
  ])
  expect(retryDelayMs(3, undefined, 0)).toBe(500)
})

test('Retry-After takes precedence, up to a limit', () => {
  expect(retryDelayMs(1, 60_000, 0)).toBe(60_000)
  expect(retryDelayMs(1, 86_400_000, 0)).toBe(300_000)
})

test.each([
  ['2', 2000],
  ['0', 0],
  ['Sun, 15 Nov 2026 10:00:30 GMT', 30_000],
  ['Sun, 15 Nov 2026 09:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, expected) => {
  expect(readRetryAfter(header, Date.parse('2026-11-15T10:00:00Z'))).toBe(expected)
})
