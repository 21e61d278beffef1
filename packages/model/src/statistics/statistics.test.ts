import { expect, test } from 'vitest'
import { judgeSequence, judgeShare, passAtK, passHatK, wilson, type Tries } from './statistics.ts'

const rounded = (passed: number, total: number, confidence?: number) => {
  const { low, high } = wilson(passed, total, confidence)
  return [low, high].map((value) => Math.round(value * 1_000) / 1_000)
}

test.each([
  [10, 10, 0.722, 1],
  [18, 20, 0.699, 0.972],
  [20, 20, 0.839, 1],
  [0, 10, 0, 0.278],
  [1, 2, 0.095, 0.905],
  [500, 1_000, 0.469, 0.531],
])('%i of %i passed: between %f and %f with 95%% confidence', (passed, total, low, high) => {
  expect(rounded(passed, total, 0.95)).toEqual([low, high])
})

test('more confidence is a wider interval', () => {
  expect(rounded(18, 20, 0.8)).toEqual([0.782, 0.958])
  expect(rounded(18, 20, 0.99)).toEqual([0.621, 0.98])
  expect(rounded(10, 10, 0.999)).toEqual([0.48, 1])
})

test('without tries the interval is 0 to 1', () => {
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 })
})

test('impossible arguments are rejected', () => {
  expect(() => wilson(3, 2)).toThrow(RangeError)
  expect(() => wilson(-1, 2)).toThrow(RangeError)
  expect(() => wilson(1, 2, 1)).toThrow(RangeError)
})

test('few tries are inconclusive, many decide', () => {
  const judge = (passed: number, total: number) => judgeShare({ passed, total }, { min: 0.9 })
  expect([judge(10, 10), judge(20, 20), judge(34, 34), judge(35, 35)]).toEqual([
    'inconclusive',
    'inconclusive',
    'inconclusive',
    'pass',
  ])
  expect([judge(4, 5), judge(5, 10), judge(0, 0)]).toEqual(['inconclusive', 'fail', 'inconclusive'])
})

test('a pass rate of 100% is accepted after 14 tries', () => {
  const verdicts = Array.from({ length: 14 }, (_, index) => judgeSequence({ passed: index + 1, failed: 0 }))
  expect(verdicts.indexOf('pass')).toBe(13)
  expect(judgeSequence({ passed: 0, failed: 3 })).toBe('fail')
  expect(() => judgeSequence({ passed: 1, failed: 1 }, { p0: 0.5, p1: 0.6 })).toThrow(RangeError)
})

/** What the test says, and after how many tries on average, worked out over all sequences up to 30 tries. */
function walk(share: number): { tries: number; undecided: number } {
  let states = new Map([['0 0', 1]])
  let tries = 0
  for (let count = 1; count <= 30; count += 1) {
    const next = new Map<string, number>()
    for (const [key, chance] of states) {
      const [passed = 0, failed = 0] = key.split(' ').map(Number)
      for (const [more, weight] of [
        [[1, 0], share],
        [[0, 1], 1 - share],
      ] as const) {
        const state = { passed: passed + more[0], failed: failed + more[1] }
        tries += chance * weight
        if (judgeSequence(state) !== 'inconclusive') continue
        const place = `${state.passed} ${state.failed}`
        next.set(place, (next.get(place) ?? 0) + chance * weight)
      }
    }
    states = next
  }
  return { tries, undecided: [...states.values()].reduce((sum, chance) => sum + chance, 0) }
}

test('a pass rate of one half is rejected after 6.1 tries on average; rates in between may stay open', () => {
  expect(walk(0.5).tries).toBeCloseTo(6.1, 1)
  expect(walk(0.5).undecided).toBeLessThan(0.001)
  // At the good share itself; the same walk, written in another language, gave these.
  expect(walk(0.95)).toEqual({ tries: expect.closeTo(20.229687, 6), undecided: expect.closeTo(0.261097, 6) })
  expect(walk(0.9)).toEqual({ tries: expect.closeTo(22.703157, 6), undecided: expect.closeTo(0.444173, 6) })
})

test("tau-bench's airline figures: .420, .273, .220, .200 for one to four tries that all pass", () => {
  // How many of the 50 tasks passed 4, 3, 2, 1 and 0 of their 4 tries.
  const counts = [10, 4, 10, 12, 14]
  const tasks: Tries[] = counts.flatMap((count, index) =>
    Array.from({ length: count }, () => ({ passed: 4 - index, total: 4 })),
  )
  expect([1, 2, 3, 4].map((k) => Number(passHatK(tasks, k).toFixed(3)))).toEqual([0.42, 0.273, 0.22, 0.2])
  expect(passAtK(tasks, 4)).toBeCloseTo(36 / 50, 12)
  expect(passAtK(tasks, 1)).toBeCloseTo(passHatK(tasks, 1), 12)
  expect(passHatK([{ passed: 1, total: 2 }], 3)).toBeNaN()
  expect(() => passAtK(tasks, 0)).toThrow(RangeError)
})
