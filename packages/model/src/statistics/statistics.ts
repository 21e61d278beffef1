export type Interval = { low: number; high: number }

/**
 * Wilson's score interval of a pass rate, which is reliable for few tries and for rates near 0 and 1. Without tries
 * it is 0 to 1.
 */
export function wilson(passed: number, total: number, confidence = 0.95): Interval {
  if (!(confidence > 0 && confidence < 1))
    throw new RangeError(`The confidence is ${confidence}; it must be between 0 and 1, for example 0.95.`)
  if (!(total >= 0 && passed >= 0 && passed <= total))
    throw new RangeError(`passed is ${passed}; it must be between 0 and total, which is ${total}.`)
  if (total === 0) return { low: 0, high: 1 }
  const z = normalQuantile((1 + confidence) / 2)
  const share = passed / total
  const spread = (z * z) / total
  const centre = (share + spread / 2) / (1 + spread)
  const margin = (z * Math.sqrt((share * (1 - share)) / total + spread / (4 * total))) / (1 + spread)
  return {
    low: passed === 0 ? 0 : Math.max(0, centre - margin),
    high: passed === total ? 1 : Math.min(1, centre + margin),
  }
}

/** Whether a pass rate reaches a minimum; `inconclusive` when there are too few tries. */
export type ShareVerdict = 'pass' | 'fail' | 'inconclusive'

/** Passes when Wilson's whole interval is above the minimum, fails when all of it is below. */
export function judgeShare(
  { passed, total }: { passed: number; total: number },
  { min, confidence = 0.95 }: { min: number; confidence?: number },
): ShareVerdict {
  const { low, high } = wilson(passed, total, confidence)
  if (total > 0 && low >= min) return 'pass'
  return high < min ? 'fail' : 'inconclusive'
}

export type SequentialOptions = {
  /** A pass rate that is good enough. */
  p0?: number
  /** A pass rate that is not good enough. */
  p1?: number
  /** The accepted rate of false rejections. */
  alpha?: number
  /** The accepted rate of false acceptances. */
  beta?: number
}

/**
 * Wald's sequential test: decides after each try whether more are needed. With the defaults, something that never
 * fails passes after 14 tries, and something that fails half of the time is mostly rejected after 6.
 */
export function judgeSequence(
  { passed, failed }: { passed: number; failed: number },
  { p0 = 0.95, p1 = 0.8, alpha = 0.05, beta = 0.1 }: SequentialOptions = {},
): ShareVerdict {
  if (!(p1 > 0 && p1 < p0 && p0 < 1))
    throw new RangeError(`p1 (${p1}) must be less than p0 (${p0}), and both must be between 0 and 1.`)
  const evidence = passed * Math.log(p1 / p0) + failed * Math.log((1 - p1) / (1 - p0))
  if (evidence <= Math.log(beta / (1 - alpha))) return 'pass'
  return evidence >= Math.log((1 - beta) / alpha) ? 'fail' : 'inconclusive'
}

/** The tries with one input. */
export type Tries = { passed: number; total: number }

/** pass@k: the probability that at least one of k tries passes, averaged over inputs; unbiased. */
export function passAtK(inputs: readonly Tries[], k: number): number {
  return meanOf(inputs, k, ({ passed, total }) => 1 - choose(total - passed, k) / choose(total, k))
}

/** pass^k: the probability that all of k tries pass, averaged over inputs. */
export function passHatK(inputs: readonly Tries[], k: number): number {
  return meanOf(inputs, k, ({ passed, total }) => choose(passed, k) / choose(total, k))
}

function meanOf(inputs: readonly Tries[], k: number, chanceOf: (tries: Tries) => number): number {
  if (!(Number.isInteger(k) && k > 0)) throw new RangeError(`k is ${k}; it must be 1 or more.`)
  const tried = inputs.filter(({ total }) => total >= k)
  if (tried.length === 0) return Number.NaN
  return tried.reduce((sum, tries) => sum + chanceOf(tries), 0) / tried.length
}

/** The binomial coefficient. */
export function choose(n: number, k: number): number {
  if (k > n) return 0
  let ways = 1
  for (let index = 1; index <= k; index += 1) ways = (ways * (n - k + index)) / index
  return ways
}

const LOWEST_CENTRAL = 0.02425

/** The quantile function of the standard normal distribution: Acklam's approximation, accurate to 1e-9. */
function normalQuantile(probability: number): number {
  if (probability > 0.5) return -normalQuantile(1 - probability)
  if (probability < LOWEST_CENTRAL) {
    const tail = Math.sqrt(-2 * Math.log(probability))
    return polynomial(tailTop, tail) / (polynomial(tailBottom, tail) * tail + 1)
  }
  const offset = probability - 0.5
  const square = offset * offset
  return (polynomial(centralTop, square) * offset) / (polynomial(centralBottom, square) * square + 1)
}

const centralTop = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
]
const centralBottom = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1,
]
const tailTop = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const tailBottom = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416]

/** Evaluates a polynomial; coefficients start with the highest power. */
function polynomial(coefficients: readonly number[], at: number): number {
  return coefficients.reduce((sum, coefficient) => sum * at + coefficient, 0)
}
