import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fisherExact, mannWhitney, medianOf, shiftBetween } from './compare-samples.ts'

/** The largest count of passes that is worse than all having passed before. */
function worst(total: number): number {
  const all = { passed: total, total }
  let passed = total
  while (fisherExact(all, { passed, total }) >= 0.05) passed -= 1
  return passed
}

test('a drop is significant from 1 of 5, 6 of 10 or 15 of 20, when all passed before', () => {
  expect([worst(5), worst(10), worst(20)]).toEqual([1, 6, 15])
})

test.each([
  // Ratios of binomials, worked out by hand: C(5,1)/C(10,6), C(10,6)/C(20,16), C(20,15)/C(40,35).
  [5, 1, 5 / 210],
  [10, 6, 210 / 4_845],
  [20, 15, 15_504 / 658_008],
])('all of %i before and %i now: the exact probability', (total, passed, chance) => {
  expect(fisherExact({ passed: total, total }, { passed, total })).toBeCloseTo(chance, 10)
})

test('the tea-tasting lady: 3 of 4 guessed right by chance in 17 of 70 cases', () => {
  expect(fisherExact({ passed: 3, total: 4 }, { passed: 1, total: 4 })).toBeCloseTo(17 / 70, 12)
})

test('no tries are no drop, and large samples do not overflow', () => {
  expect(fisherExact({ passed: 0, total: 0 }, { passed: 1, total: 2 })).toBe(1)
  expect(fisherExact({ passed: 9_500, total: 10_000 }, { passed: 9_300, total: 10_000 })).toBeLessThan(1e-6)
})

test('fully separated samples are one ordering of all', () => {
  expect(mannWhitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])).toBeCloseTo(1 / 252, 12)
  expect(mannWhitney([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])).toBe(1)
  expect(mannWhitney([], [1])).toBe(1)
})

/** The chance by going through every way to choose which values are of now. */
function byEnumeration(before: readonly number[], now: readonly number[]): number {
  const values = [...before, ...now]
  const wins = (chosen: ReadonlySet<number>) => {
    let sum = 0
    for (const [one, left] of values.entries())
      for (const [other, right] of values.entries())
        if (chosen.has(one) && !chosen.has(other)) sum += left > right ? 1 : left === right ? 0.5 : 0
    return sum
  }
  const seen = wins(new Set(now.map((_, index) => before.length + index)))
  let [all, asMany] = [0, 0]
  for (let mask = 0; mask < 2 ** values.length; mask += 1) {
    const chosen = new Set([...values.keys()].filter((index) => (mask >> index) % 2 === 1))
    if (chosen.size !== now.length) continue
    all += 1
    if (wins(chosen) >= seen) asMany += 1
  }
  return asMany / all
}

test('without ties the result is the share of all orderings', () => {
  const sample = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 9 })
  fc.assert(
    fc.property(sample, fc.integer({ min: 1, max: 8 }), (values, split) => {
      const at = Math.min(split, values.length - 1)
      const [before, now] = [values.slice(0, at), values.slice(at)]
      expect(mannWhitney(before, now)).toBeCloseTo(byEnumeration(before, now), 12)
    }),
    { numRuns: 60 },
  )
})

test('with ties or many values the result is close to the exact one', () => {
  const before = [1, 2, 2, 3, 3, 3, 4, 5]
  const now = [3, 4, 4, 5, 5, 6, 6, 7]
  expect(Math.abs(mannWhitney(before, now) - byEnumeration(before, now))).toBeLessThan(0.003)
  const [low, high] = [0, 0.001].map((shift) =>
    Array.from({ length: 40 }, (_, index) => Math.sin(index * 7.3 + shift * 100) + shift),
  )
  expect(mannWhitney(low!, high!)).toBeGreaterThan(0.05)
  expect(
    mannWhitney(
      low!,
      high!.map((value) => value + 1),
    ),
  ).toBeLessThan(0.001)
})

test('the shift is the distance between two samples', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1 }),
      fc.integer(),
      (values, by) => {
        const shift = by % 1_000
        expect(
          shiftBetween(
            values,
            values.map((value) => value + shift),
          ),
        ).toBeCloseTo(shift, 9)
      },
    ),
  )
  expect([medianOf([3, 1, 2]), medianOf([4, 1, 2, 3]), medianOf([])]).toEqual([2, 2.5, Number.NaN])
})
