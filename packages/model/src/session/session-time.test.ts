import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime, LAST_TIME_MS } from './session-time.ts'

test('an instant is formatted like Date does', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: LAST_TIME_MS, noNaN: true }),
      fc.integer({ min: 0, max: 1500 }),
      (time, later) => {
        expect(isoTime(time)).toBe(new Date(time).toISOString())
        if (time + later <= LAST_TIME_MS)
          expect(isoTime(time + later)).toBe(new Date(time + later).toISOString())
      },
    ),
  )
})
