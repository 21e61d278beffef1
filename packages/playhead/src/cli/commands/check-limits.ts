import {
  countOf,
  describeMissingCost,
  formatCost,
  formatDuration,
  formatPercent,
  scoreNumber,
  showScore,
  triesOf,
  type SessionSummary,
} from '@playhead/model'

export type CheckLimits = {
  failureRate?: number
  usd?: number
  p95Ms?: number
  scores?: readonly { name: string; mean: number }[]
}

/** One condition and its result; `too-few` means there were not enough sessions to decide. */
export type CheckRow = { name: string; state: 'kept' | 'broken' | 'too-few'; text: string }

export type CheckResult = {
  rows: CheckRow[]
  sessions: SessionSummary[]
  verdict: 'pass' | 'fail' | 'too-few'
}

/** One broken condition fails the check; to pass, every condition needs enough sessions. */
export function judgeRows(rows: readonly CheckRow[]): CheckResult['verdict'] {
  if (rows.some(({ state }) => state === 'broken')) return 'fail'
  return rows.some(({ state }) => state === 'too-few') ? 'too-few' : 'pass'
}

export function checkLimits(
  sessions: readonly SessionSummary[],
  { failureRate, usd, p95Ms, scores = [] }: CheckLimits,
  minimum: number,
): CheckRow[] {
  return [
    ...(failureRate === undefined ? [] : [checkFailures(sessions, failureRate, minimum)]),
    ...(usd === undefined ? [] : [checkCost(sessions, usd, minimum)]),
    ...(p95Ms === undefined ? [] : [checkDuration(sessions, p95Ms, minimum)]),
    ...scores.map((limit) => checkScore(sessions, limit, minimum)),
  ]
}

export function costsOf(sessions: readonly SessionSummary[]): number[] {
  return sessions.map(({ cost }) => cost).filter((cost) => cost !== null)
}

export function durationsOf(sessions: readonly SessionSummary[]): number[] {
  return sessions.map(({ durationMs }) => durationMs).filter((duration) => duration !== null)
}

function checkFailures(sessions: readonly SessionSummary[], limit: number, minimum: number): CheckRow {
  const { passed, total } = triesOf(sessions)
  const name = 'failure rate'
  if (total < minimum) return tooFew(name, total, minimum)
  const rate = (total - passed) / total
  const isBroken = rate > limit
  const undecided = sessions.length - total
  const others = undecided === 0 ? '' : `; ${undecided} more without a verdict`
  const text = `${formatPercent(rate, 1)} ${isBroken ? '>' : '≤'} ${Number((limit * 100).toFixed(2))}% (${total - passed} of ${countOf(total, 'session')} failed${others})`
  return { name, state: isBroken ? 'broken' : 'kept', text }
}

function checkCost(sessions: readonly SessionSummary[], limit: number, minimum: number): CheckRow {
  const costs = costsOf(sessions)
  const name = 'cost per session'
  if (costs.length < minimum) return tooFew(name, costs.length, minimum)
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length
  const unpriced = new Set(sessions.flatMap(({ unpricedModels }) => unpricedModels))
  const withoutUsage = new Set(sessions.flatMap(({ modelsWithoutUsage }) => modelsWithoutUsage ?? []))
  const withoutOutput = new Set(sessions.flatMap(({ modelsWithoutOutput }) => modelsWithoutOutput ?? []))
  const reason = describeMissingCost({
    unpricedModels: [...unpriced],
    modelsWithoutUsage: [...withoutUsage],
    modelsWithoutOutput: [...withoutOutput],
  })
  const missing = reason === undefined ? '' : `; ${reason}`
  const isBroken = mean > limit
  const text = `${formatCost(mean)} ${isBroken ? '>' : '≤'} ${formatCost(limit)} (mean of ${countOf(costs.length, 'session')}${missing})`
  return { name, state: isBroken ? 'broken' : 'kept', text }
}

function checkDuration(sessions: readonly SessionSummary[], limitMs: number, minimum: number): CheckRow {
  const durations = durationsOf(sessions).toSorted((left, right) => left - right)
  const name = 'p95 duration'
  if (durations.length < minimum) return tooFew(name, durations.length, minimum)
  const p95 = durations[Math.ceil(durations.length * 0.95) - 1] ?? 0
  const isBroken = p95 > limitMs
  const text = `${formatDuration(p95)} ${isBroken ? '>' : '≤'} ${formatDuration(limitMs)} (${countOf(durations.length, 'session')})`
  return { name, state: isBroken ? 'broken' : 'kept', text }
}

function checkScore(
  sessions: readonly SessionSummary[],
  { name, mean: limit }: { name: string; mean: number },
  minimum: number,
): CheckRow {
  const label = `score ${name}`
  const given = sessions.flatMap(({ scores = [] }) => scores.filter((score) => score.name === name))
  const numbers = given.map(({ value }) => scoreNumber(value)).filter((number) => number !== null)
  if (numbers.length < Math.max(1, minimum)) return tooFew(label, numbers.length, minimum)
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const isBroken = mean < limit
  const others = sessions.length - numbers.length
  const missing = others === 0 ? '' : `; ${others} more without it`
  const text = `${showScore(mean)} ${isBroken ? '<' : '≥'} ${showScore(limit)} (mean of ${countOf(numbers.length, 'session')}${missing})`
  return { name: label, state: isBroken ? 'broken' : 'kept', text }
}

export function tooFew(name: string, count: number, minimum: number): CheckRow {
  return {
    name,
    state: 'too-few',
    text: `not enough data: ${countOf(count, 'session')}, need at least ${Math.max(1, minimum)}`,
  }
}
