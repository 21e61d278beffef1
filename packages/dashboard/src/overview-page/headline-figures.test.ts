import { expect, test } from 'vitest'
import { changeOf, pointsOf } from './headline-figures.tsx'

test.each([
  [112, 100, { kind: 'up', text: '12%', isLarge: false }],
  [50, 100, { kind: 'down', text: '50%', isLarge: true }],
  [340, 100, { kind: 'up', text: '3.4×', isLarge: true }],
  [100.2, 100, { kind: 'same' }],
  [0, 100, { kind: 'down', text: '100%', isLarge: true }],
  [5, 0, { kind: 'none-before' }],
  [5, null, { kind: 'none-before' }],
  [null, 5, { kind: 'none-before' }],
])('from %s, before %s', (now, before, change) => {
  expect(changeOf(now, before)).toEqual(change)
})

test('rates change by percentage points, also from zero', () => {
  expect(pointsOf(0.16, 0.1)).toEqual({ kind: 'up', text: '6.0 points', isLarge: true })
  expect(pointsOf(0.1, 0)).toEqual({ kind: 'up', text: '10 points', isLarge: true })
  expect(pointsOf(0.1, 0.1)).toEqual({ kind: 'same' })
  expect(pointsOf(null, 0.1)).toEqual({ kind: 'none-before' })
})
