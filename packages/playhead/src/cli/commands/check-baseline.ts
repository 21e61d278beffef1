import {
  fisherExact,
  formatCost,
  formatDuration,
  mannWhitney,
  medianOf,
  shiftBetween,
  type SessionSummary,
} from '@playhead/model'
import { costsOf, durationsOf, percent, tooFew, triesOf, type CheckRow } from './check-limits.ts'

/** How likely a difference may be by chance to count as one. */
const CHANCE = 0.05
/** A smaller change of cost or duration is not worth a red build, however certain it is. */
const EFFECT = 0.1

/** Whether sessions are worse than those of another branch: pass rate, cost and duration. */
export function compareWithBaseline(
  now: readonly SessionSummary[],
  before: readonly SessionSummary[],
  { baseline, minimum }: { baseline: string; minimum: number },
): CheckRow[] {
  return [
    comparePassRate(now, before, { baseline, minimum }),
    compareFigure('cost', [costsOf(now), costsOf(before)], { baseline, minimum, show: formatCost }),
    compareFigure('duration', [durationsOf(now), durationsOf(before)], {
      baseline,
      minimum,
      show: formatDuration,
    }),
  ]
}

type Context = { baseline: string; minimum: number }

function comparePassRate(
  now: readonly SessionSummary[],
  before: readonly SessionSummary[],
  { baseline, minimum }: Context,
): CheckRow {
  const name = `pass rate vs ${baseline}`
  const [tries, base] = [triesOf(now), triesOf(before)]
  const counts = `${tries.passed}/${tries.total}, ${baseline} ${base.passed}/${base.total}`
  if (Math.min(tries.total, base.total) < Math.max(1, minimum))
    return tooFew(name, Math.min(tries.total, base.total), minimum)
  const chance = fisherExact(base, tries)
  const share = (of: { passed: number; total: number }) => percent(of.passed / of.total, 1)
  const text = `${share(tries)} against ${share(base)} (${counts}; p = ${chance.toFixed(3)})`
  if (chance < CHANCE) return { name, state: 'broken', text }
  // Not even if all of them had failed would it have shown.
  if (fisherExact(base, { passed: 0, total: tries.total }) >= CHANCE)
    return { name, state: 'too-few', text: `too few to tell: ${text}` }
  return { name, state: 'kept', text }
}

function compareFigure(
  what: string,
  [now, before]: readonly [number[], number[]],
  { baseline, minimum, show }: Context & { show: (value: number) => string },
): CheckRow {
  const name = `${what} vs ${baseline}`
  const fewest = Math.min(now.length, before.length)
  if (fewest < Math.max(1, minimum)) return tooFew(name, fewest, minimum)
  const [median, base] = [medianOf(now), medianOf(before)]
  const chance = mannWhitney(before, now)
  const shift = shiftBetween(before, now)
  const change = base === 0 ? 0 : shift / base
  const text = `median ${show(median)} against ${show(base)} (${change < 0 ? '' : '+'}${percent(change, 0)}; p = ${chance.toFixed(3)})`
  if (chance < CHANCE && change >= EFFECT) return { name, state: 'broken', text }
  const smallest = mannWhitney(
    [...before.keys()],
    [...now.keys()].map((index) => index + before.length),
  )
  if (smallest >= CHANCE) return { name, state: 'too-few', text: `too few to tell: ${text}` }
  return { name, state: 'kept', text }
}
