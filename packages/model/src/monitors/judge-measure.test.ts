import { expect, test } from 'vitest'
import { judgeMeasure, type Measured } from './judge-measure.ts'
import type { Condition } from './monitor.ts'

const rate: Condition & { kind: 'rate' } = {
  kind: 'rate',
  measure: 'cost',
  is: 'above',
  limit: 1,
  windowMs: 3_600_000,
  minimum: 10,
}
const measured = (change: Partial<Measured>): Measured => ({
  sessions: 10,
  failed: 0,
  succeeded: 10,
  cost: 3,
  p95Ms: 1_000,
  scored: 0,
  scoreMean: null,
  ...change,
})

test('a change is measured against the week before, and without enough sessions it is none', () => {
  const condition = { ...rate, isChange: true } as const
  const before = measured({ cost: 1 })
  expect(judgeMeasure(condition, measured({}), before)).toEqual({ observation: 'bad', value: 2 })
  expect(judgeMeasure(condition, measured({ cost: 2 }), before)).toEqual({ observation: 'good', value: 1 })
  const none = { observation: 'no-data', value: null }
  expect(judgeMeasure(condition, measured({ sessions: 9 }), before)).toEqual(none)
  expect(judgeMeasure(condition, measured({}), measured({ cost: 0 }))).toEqual(none)
  expect(judgeMeasure(condition, measured({}), measured({ sessions: 9 }))).toEqual(none)
})

test('a figure that says too little is shown all the same', () => {
  expect(judgeMeasure(rate, measured({ sessions: 9 }), undefined)).toEqual({
    observation: 'no-data',
    value: 3,
  })
  expect(judgeMeasure(rate, measured({}), undefined)).toEqual({ observation: 'bad', value: 3 })
})

test("a failure rate needs Wilson's whole interval", () => {
  const condition = { ...rate, measure: 'failure-rate', limit: 0.3, minimum: 4 } as const
  const of = (failed: number, succeeded: number) =>
    judgeMeasure(condition, measured({ failed, succeeded }), undefined).observation
  expect([of(2, 2), of(20, 2), of(1, 1)]).toEqual(['good', 'bad', 'no-data'])
})
