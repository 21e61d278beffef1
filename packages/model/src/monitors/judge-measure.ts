import { wilson } from '../statistics/statistics.ts'
import type { Condition } from './monitor.ts'
import type { Observation } from './monitor-state.ts'

/** What was counted in a window. */
export type Measured = {
  sessions: number
  failed: number
  succeeded: number
  cost: number | null
  p95Ms: number | null
  scored: number
  scoreMean: number | null
}

export type Judged = { observation: Observation; value: number | null }

/**
 * Judges the figures of a window, and of the same window a week before where the limit is a change. A failure rate is bad
 * only if Wilson's whole interval is beyond the limit: three failures of four prove little.
 */
export function judgeMeasure(
  condition: Condition & { kind: 'rate' },
  now: Measured,
  weekBefore: Measured | undefined,
): Judged {
  const { minimum, is, limit, isChange, measure } = condition
  const value = valueOf(condition, now)
  const isEnough = countOf(condition, now) >= Math.max(measure === 'count' ? 0 : 1, minimum)
  // The figure itself is no change.
  if (value === null || !isEnough) return { observation: 'no-data', value: isChange === true ? null : value }
  if (isChange === true) {
    const before = weekBefore === undefined ? null : valueOf(condition, weekBefore)
    if (before === null || before === 0 || countOf(condition, weekBefore!) < minimum)
      return { observation: 'no-data', value: null }
    const change = value / before - 1
    return { observation: isBeyond(change, is, limit) ? 'bad' : 'good', value: change }
  }
  if (measure !== 'failure-rate') return { observation: isBeyond(value, is, limit) ? 'bad' : 'good', value }
  const { low, high } = wilson(now.failed, now.failed + now.succeeded)
  return { observation: isBeyond(is === 'above' ? low : high, is, limit) ? 'bad' : 'good', value }
}

function isBeyond(value: number, is: 'above' | 'below', limit: number): boolean {
  return is === 'above' ? value > limit : value < limit
}

function valueOf({ measure }: Condition & { kind: 'rate' }, measured: Measured): number | null {
  const ended = measured.failed + measured.succeeded
  switch (measure) {
    case 'failure-rate':
      return ended === 0 ? null : measured.failed / ended
    case 'cost':
      return measured.cost
    case 'p95':
      return measured.p95Ms
    case 'count':
      return measured.sessions
    case 'score':
      return measured.scoreMean
  }
}

/** How many sessions the value is made of. */
function countOf({ measure }: Condition & { kind: 'rate' }, measured: Measured): number {
  if (measure === 'failure-rate') return measured.failed + measured.succeeded
  return measure === 'score' ? measured.scored : measured.sessions
}
