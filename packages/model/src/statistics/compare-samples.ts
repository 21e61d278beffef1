import type { Tries } from './statistics.ts'

/** Fisher's exact test, one-sided: the probability that `now` is at least this much worse than `before` by chance. */
export function fisherExact(before: Tries, now: Tries): number {
  const passed = before.passed + now.passed
  const total = before.total + now.total
  const smallest = Math.max(0, passed - before.total)
  let chance = 0
  for (let count = smallest; count <= now.passed; count += 1)
    chance += Math.exp(
      logChoose(now.total, count) + logChoose(before.total, passed - count) - logChoose(total, passed),
    )
  return Math.min(1, chance)
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k)
}

const logFactorials = [0]

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1)
    logFactorials.push(logFactorials[next - 1]! + Math.log(next))
  return logFactorials[n]!
}

/** Up to this many values per sample, the probability is computed exactly. */
const MAX_EXACT = 20

/**
 * The Mann-Whitney test, one-sided: the probability that `now` is at least this much larger than `before` by chance.
 */
export function mannWhitney(before: readonly number[], now: readonly number[]): number {
  if (before.length === 0 || now.length === 0) return 1
  const wins = countWins(before, now)
  const values = [...before, ...now]
  const hasTies = new Set(values).size < values.length
  if (!hasTies && before.length <= MAX_EXACT && now.length <= MAX_EXACT)
    return exactChance(before.length, now.length, wins)
  return approximateChance(values, before.length, wins)
}

/** Counts the pairs in which `now` is larger than `before`; ties count half. */
function countWins(before: readonly number[], now: readonly number[]): number {
  const sorted = before.toSorted((left, right) => left - right)
  let wins = 0
  for (const value of now) wins += (positionIn(sorted, value, false) + positionIn(sorted, value, true)) / 2
  return wins
}

/** Counts the sorted values below this one, or up to it. */
function positionIn(sorted: readonly number[], value: number, isEqualCounted: boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const isBelow = isEqualCounted ? sorted[middle]! <= value : sorted[middle]! < value
    if (isBelow) low = middle + 1
    else high = middle
  }
  return low
}

/** The share of all orderings that have at least this many wins. */
function exactChance(first: number, second: number, wins: number): number {
  // ways[j][w]: orderings of some values of the first sample and j of the second with w wins.
  let ways = Array.from({ length: second + 1 }, () => [1])
  for (let count = 1; count <= first; count += 1) {
    const next: number[][] = [[1]]
    for (let other = 1; other <= second; other += 1)
      next[other] = addShifted(ways[other]!, next[other - 1]!, count)
    ways = next
  }
  const counts = ways[second]!
  const total = counts.reduce((sum, count) => sum + count, 0)
  return counts.slice(Math.ceil(wins)).reduce((sum, count) => sum + count, 0) / total
}

/** The largest value is from the first sample, which adds no win, or from the second, which beats all of the first. */
function addShifted(still: readonly number[], moved: readonly number[], by: number): number[] {
  const sum = [...still]
  for (const [wins, count] of moved.entries()) sum[wins + by] = (sum[wins + by] ?? 0) + count
  return Array.from(sum, (count) => count ?? 0)
}

function approximateChance(values: readonly number[], firstLength: number, wins: number): number {
  const size = values.length
  const pairs = firstLength * (size - firstLength)
  const ties = [...Map.groupBy(values, (value) => value).values()].reduce(
    (sum, { length }) => sum + length ** 3 - length,
    0,
  )
  const variance = (pairs / 12) * (size + 1 - ties / (size * (size - 1)))
  if (!(variance > 0)) return 1
  return upperTail((wins - pairs / 2 - 0.5) / Math.sqrt(variance))
}

/** The upper tail of the standard normal distribution: Abramowitz and Stegun 26.2.17, accurate to 7.5e-8. */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z)
  const scaled = 1 / (1 + 0.2316419 * z)
  const series =
    scaled *
    (0.31938153 +
      scaled * (-0.356563782 + scaled * (1.781477937 + scaled * (-1.821255978 + scaled * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series
}

/** How far `now` is above `before`: the Hodges–Lehmann estimator, the median of all differences. */
export function shiftBetween(before: readonly number[], now: readonly number[]): number {
  const [few, others] = [thin(before), thin(now)]
  return medianOf(others.flatMap((value) => few.map((base) => value - base)))
}

const PAIRED = 1_000

/** Takes every nth of too many values: a million differences are as good as a hundred million. */
function thin(values: readonly number[]): readonly number[] {
  const every = Math.ceil(values.length / PAIRED)
  return every <= 1 ? values : values.toSorted((a, b) => a - b).filter((_, index) => index % every === 0)
}

/** NaN for none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}
