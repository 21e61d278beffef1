import {
  fisherExact,
  formatCost,
  formatDuration,
  formatPercent,
  mannWhitney,
  medianOf,
  shiftBetween,
  triesOf,
  type SessionSummary,
} from '@playhead/model'
import { costsOf, durationsOf, tooFew, type CheckRow } from './check-limits.ts'

const SIGNIFICANCE = 0.05
/** A smaller change in cost or duration does not fail a build, however significant it is. */
const MIN_CHANGE = 0.1

type Context = { baseline: string; minimum: number }

/** Tests whether sessions are significantly worse than those of another branch: pass rate, cost and duration. */
export function compareWithBaseline(
  now: readonly SessionSummary[],
  before: readonly SessionSummary[],
  context: Context,
): CheckRow[] {
  return [
    comparePassRate(now, before, context),
    compareMedian('cost', [costsOf(now), costsOf(before)], { ...context, format: formatCost }),
    compareMedian('duration', [durationsOf(now), durationsOf(before)], {
      ...context,
      format: formatDuration,
    }),
  ]
}

function comparePassRate(
  now: readonly SessionSummary[],
  before: readonly SessionSummary[],
  { baseline, minimum }: Context,
): CheckRow {
  const name = `pass rate vs ${baseline}`
  const [tries, base] = [triesOf(now), triesOf(before)]
  if (Math.min(tries.total, base.total) < Math.max(1, minimum))
    return tooFew(name, Math.min(tries.total, base.total), minimum)
  const p = fisherExact(base, tries)
  const share = (of: { passed: number; total: number }) => formatPercent(of.passed / of.total, 1)
  const counts = `${tries.passed}/${tries.total} vs ${base.passed}/${base.total}`
  const text = `${share(tries)} vs ${share(base)} (${counts}; p = ${p.toFixed(3)})`
  if (p < SIGNIFICANCE) return { name, state: 'broken', text }
  const smallestP = fisherExact(base, { passed: 0, total: tries.total })
  return decideUnbroken(name, text, smallestP)
}

function compareMedian(
  what: string,
  [now, before]: readonly [number[], number[]],
  { baseline, minimum, format }: Context & { format: (value: number) => string },
): CheckRow {
  const name = `${what} vs ${baseline}`
  const fewest = Math.min(now.length, before.length)
  if (fewest < Math.max(1, minimum)) return tooFew(name, fewest, minimum)
  const [median, base] = [medianOf(now), medianOf(before)]
  const p = mannWhitney(before, now)
  const change = base === 0 ? 0 : shiftBetween(before, now) / base
  const text = `median ${format(median)} vs ${format(base)} (${change < 0 ? '' : '+'}${formatPercent(change)}; p = ${p.toFixed(3)})`
  if (p < SIGNIFICANCE && change >= MIN_CHANGE) return { name, state: 'broken', text }
  const smallestP = mannWhitney(
    [...before.keys()],
    [...now.keys()].map((index) => index + before.length),
  )
  return decideUnbroken(name, text, smallestP)
}

/** With so few sessions that even the worst outcome would not be significant, nothing is decided. */
function decideUnbroken(name: string, text: string, smallestP: number): CheckRow {
  return smallestP >= SIGNIFICANCE
    ? { name, state: 'too-few', text: `not enough data: ${text}` }
    : { name, state: 'kept', text }
}
