import { expect, test } from 'vitest'
import { ingestRate } from './health-section.tsx'

const reading = (readAtMs: number, spansStored: number) => ({ readAtMs, spansStored, logsStored: 0 })

test('rows a second between two readings', () => {
  expect(ingestRate(reading(1_000, 100), reading(3_000, 500))).toBe(200)
  expect(ingestRate(reading(1_000, 100), reading(3_000, 100))).toBe(0)
})

test('nothing is said without a second reading, or after a restart', () => {
  expect(ingestRate(undefined, reading(1_000, 5))).toBeUndefined()
  expect(ingestRate(reading(1_000, 100), reading(3_000, 5))).toBeUndefined()
})
