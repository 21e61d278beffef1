import { countOf, formatPercent } from '../format/format-number.ts'
import { formatDuration } from '../format/format-time.ts'
import type { Rule } from './rule.ts'
import { describeRule } from './rule.ts'

/** What a rate monitor measures over its window. */
export const measures = ['failure-rate', 'cost', 'p95', 'count', 'score'] as const
export type Measure = (typeof measures)[number]

/** Which sessions: the parameters of `GET /api/sessions`. */
export type MonitorFilter = { [field: string]: string | string[] }

/** What a monitor watches. */
export type Condition =
  /** Each session, as it ends and whenever it changes. Fires while `sessions` of the window or more break the rule. */
  | { kind: 'rule'; rule: Rule; windowMs: number; sessions: number }
  /** A figure over a window that slides; above or below a limit, or a change against the week before. */
  | {
      kind: 'rate'
      measure: Measure
      /** The score that is measured. */
      score?: string
      is: 'above' | 'below'
      limit: number
      /** The limit is a share of change against the same window a week before: 0.5 is half as much again. */
      isChange?: true
      windowMs: number
      /** With fewer sessions there is no data. */
      minimum: number
    }
  /** No session has started for this long. */
  | { kind: 'silence'; windowMs: number }
  /** An issue is new, or came back, within the window. */
  | { kind: 'issue'; windowMs: number }

export type Monitor = {
  id: string
  name: string
  filter: MonitorFilter
  condition: Condition
  /** How long it has to be bad before it fires, and good before it is normal again. */
  forMs: number
  isPaused: boolean
  /** The ids of the destinations that are told; all of them if absent, none if empty. */
  destinations?: string[]
  /** Created by `playhead monitors apply`, which replaces and deletes only those. */
  isFromFile: boolean
}

const measureWords: Record<Measure, string> = {
  'failure-rate': 'the failure rate',
  cost: 'the cost',
  p95: 'the p95 duration',
  count: 'the number of sessions',
  score: 'the mean score',
}

/** "the failure rate of tag:support over 1h is above 5%, with at least 20 sessions". */
export function describeMonitor({ condition, filter }: Pick<Monitor, 'condition' | 'filter'>): string {
  const terms = Object.entries(filter).flatMap(([field, value]) =>
    [value].flat().map((one) => `${field}:${one}`),
  )
  const of = terms.length === 0 ? '' : ` of ${terms.join(' ')}`
  switch (condition.kind) {
    case 'rule': {
      const { sessions, windowMs, rule } = condition
      const [who, breaks] = sessions === 1 ? ['a session', 'breaks'] : [`${sessions} sessions`, 'break']
      return `${who}${of} within ${formatWindow(windowMs)} ${breaks}: ${describeRule(rule)}`
    }
    case 'rate': {
      const { measure, score, is, windowMs, minimum } = condition
      const what = score === undefined ? measureWords[measure] : `${measureWords[measure]} ${score}`
      return `${what}${of} over ${formatWindow(windowMs)} is ${is} ${describeLimit(condition)}, with at least ${countOf(minimum, 'session')}`
    }
    case 'silence':
      return `no session${of} has started for ${formatWindow(condition.windowMs)}`
    case 'issue':
      return `an issue${of} is new or reopened within ${formatWindow(condition.windowMs)}`
  }
}

function describeLimit({ measure, limit, isChange }: Condition & { kind: 'rate' }): string {
  if (isChange === true)
    return `${limit < 0 ? '' : '+'}${formatPercent(limit)} of the same time a week before`
  return formatMeasure(measure, limit)
}

/** A value of a measure, for people. */
export function formatMeasure(measure: Measure, value: number): string {
  if (measure === 'failure-rate') return formatPercent(value, value < 0.1 ? 1 : 0)
  if (measure === 'cost') return `$${Number(value.toFixed(4))}`
  return measure === 'p95' ? formatDuration(value) : String(Number(value.toFixed(3)))
}

/** The figure of an evaluation, for people: "34%", "$2.5", "+50%", "3 sessions". */
export function formatMonitorValue(condition: Condition, value: number): string {
  if (condition.kind !== 'rate') return countOf(value, condition.kind === 'issue' ? 'issue' : 'session')
  if (condition.isChange === true) return `${value < 0 ? '' : '+'}${formatPercent(value)}`
  return formatMeasure(condition.measure, value)
}

const units = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** "30m", "1h", "7d": the largest unit that fits without a rest. */
export function formatWindow(ms: number): string {
  const [unit, size] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}
