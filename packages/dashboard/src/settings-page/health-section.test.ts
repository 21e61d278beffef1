import { expect, test } from 'vitest'
import { ingestRate } from './health-section.tsx'

const sample = (readAtMs: number, spansStored: number) => ({ readAtMs, spansStored, logsStored: 0 })

test('rows per second between two samples', () => {
  expect(ingestRate(sample(1_000, 100), sample(3_000, 500))).toBe(200)
  expect(ingestRate(sample(1_000, 100), sample(3_000, 100))).toBe(0)
})

test('unknown without a second sample or after a restart', () => {
  expect(ingestRate(undefined, sample(1_000, 5))).toBeUndefined()
  expect(ingestRate(sample(1_000, 100), sample(3_000, 5))).toBeUndefined()
})
