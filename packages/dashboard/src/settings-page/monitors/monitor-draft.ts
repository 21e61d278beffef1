import {
  findingKinds,
  formatWindow,
  parseDuration,
  parseFilter,
  writeTerm,
  type Condition,
  type FindingKind,
  type Monitor,
  type Rule,
} from '@playhead/model'
import type { MonitorChange, NewMonitor } from '../../api/monitors.ts'

export const kinds = ['rate', 'rule', 'silence', 'issue'] as const
export type DraftKind = (typeof kinds)[number]

/** The blanks of the sentence, as they were typed. */
export type MonitorDraft = {
  name: string
  filter: string
  kind: DraftKind
  window: string
  wait: string
  measure: Extract<Condition, { kind: 'rate' }>['measure']
  score: string
  is: 'above' | 'below'
  limit: string
  isChange: boolean
  minimum: string
  ruleKind: Rule['kind']
  action: string
  before: string
  number: string
  sessions: string
  /** Whom it tells. */
  tells: 'all' | 'nobody' | 'some'
  destinations: string[]
}

export const newDraft: MonitorDraft = {
  name: '',
  filter: '',
  kind: 'rate',
  window: '1h',
  wait: '0s',
  measure: 'failure-rate',
  score: '',
  is: 'above',
  limit: '5%',
  isChange: false,
  minimum: '20',
  ruleKind: 'never',
  action: '',
  before: '',
  number: '',
  sessions: '1',
  tells: 'all',
  destinations: [],
}

/** The blanks of the sentence for a monitor that exists. */
export function draftOf({ name, filter, condition, forMs, destinations }: Monitor): MonitorDraft {
  return {
    ...newDraft,
    name,
    filter: writeFilter(filter),
    kind: condition.kind,
    window: formatWindow(condition.windowMs),
    wait: forMs === 0 ? newDraft.wait : formatWindow(forMs),
    tells: destinations === undefined ? 'all' : destinations.length === 0 ? 'nobody' : 'some',
    destinations: destinations ?? [],
    ...blanksOf(condition),
  }
}

/**
 * What a draft changes; undefined if something is missing. Fields that nobody touched are left out, because a monitor begins
 * again when its filter or condition is written in another way.
 */
export function toChange(monitor: Monitor, draft: MonitorDraft): MonitorChange | undefined {
  const [before, after] = [toMonitor(draftOf(monitor)), toMonitor(draft)]
  if (!('monitor' in after)) return undefined
  const was: Partial<NewMonitor> = 'monitor' in before ? before.monitor : {}
  const { name, filter, condition, forMs, destinations } = after.monitor
  const isNew = (field: keyof NewMonitor) =>
    JSON.stringify(after.monitor[field]) !== JSON.stringify(was[field])
  return {
    ...(isNew('name') && { name }),
    ...(isNew('filter') && { filter }),
    ...(isNew('condition') && { condition }),
    ...(isNew('forMs') && { forMs }),
    ...(isNew('destinations') && { destinations: destinations ?? null }),
  }
}

function writeFilter(filter: Monitor['filter']): string {
  const terms = Object.entries(filter).flatMap(([field, values]) =>
    [values].flat().map((value) => (field === 'text' ? quoted(value) : writeTerm(field, value))),
  )
  return terms.join(' ')
}

/** Always, because words with a colon look like a key. */
function quoted(words: string): string {
  return `"${words.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function blanksOf(condition: Condition): Partial<MonitorDraft> {
  if (condition.kind === 'silence' || condition.kind === 'issue') return {}
  if (condition.kind === 'rule')
    return {
      sessions: String(condition.sessions),
      ruleKind: condition.rule.kind,
      ...ruleBlanks(condition.rule),
    }
  const { measure, score = '', is, isChange = false, minimum } = condition
  return { measure, score, is, isChange, limit: writeLimit(condition), minimum: String(minimum) }
}

function writeLimit({ measure, limit, isChange }: Condition & { kind: 'rate' }): string {
  if (isChange === true || measure === 'failure-rate') return `${plain(limit * 100)}%`
  if (measure === 'p95') return formatWindow(limit)
  return measure === 'cost' ? `$${plain(limit)}` : plain(limit)
}

/** Without an exponent, and without the digits that only arithmetic adds. */
function plain(value: number): string {
  return value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 })
}

function ruleBlanks(rule: Rule): Partial<MonitorDraft> {
  switch (rule.kind) {
    case 'never':
      return { action: rule.action, before: rule.before ?? '' }
    case 'always':
      return { action: rule.action }
    case 'at-most':
      return { action: rule.action ?? '', number: String(rule.times) }
    case 'only':
      return { action: rule.actions.join(', ') }
    case 'cost':
      return { number: plain(rule.atMost) }
    case 'duration':
      return { number: formatWindow(rule.atMostMs) }
    case 'no-errors':
      return {}
    case 'no-finding':
      return { action: rule.findings.join(', ') }
    case 'score':
      return { action: rule.name, number: plain(rule.atLeast) }
  }
}

/** The monitor that a draft describes, or the first thing that is missing. */
export function toMonitor(draft: MonitorDraft): { monitor: NewMonitor } | { problem: string } {
  const windowMs = parseDuration(draft.window)
  const forMs = parseDuration(draft.wait)
  if (windowMs === undefined || windowMs < 60_000)
    return { problem: 'The window must be a duration from 1m to 30d.' }
  if (forMs === undefined) return { problem: 'The wait must be a duration like 5m; 0s for none.' }
  const filter = parseFilter(draft.filter)
  const wrong = filter.terms.find(({ problem }) => problem !== undefined)
  if (wrong?.problem !== undefined) return { problem: wrong.problem }
  const condition = toCondition(draft, windowMs)
  if (typeof condition === 'string') return { problem: condition }
  return {
    monitor: {
      name: draft.name.trim() === '' ? suggestName(draft) : draft.name.trim(),
      filter: filter.parameters,
      condition,
      forMs,
      ...(draft.tells !== 'all' && { destinations: draft.tells === 'some' ? draft.destinations : [] }),
    },
  }
}

/** What the monitor is called unless somebody types a name. */
export function suggestName({ kind, measure, score, ruleKind, action, before }: MonitorDraft): string {
  if (kind === 'rate') return measure === 'score' ? `Score ${score}` : measureNames[measure]
  if (kind === 'silence') return 'Silence'
  if (kind === 'issue') return 'New or reopened issue'
  const [first] = action.split(',')
  return ruleKind === 'never' && before !== ''
    ? `${first} without ${before}`
    : `${ruleNames[ruleKind]} ${action}`.trim()
}

export const measureNames: Record<MonitorDraft['measure'], string> = {
  'failure-rate': 'Failure rate',
  cost: 'Cost',
  p95: 'p95 duration',
  count: 'Number of sessions',
  score: 'Mean score',
}

export const ruleNames: Record<Rule['kind'], string> = {
  never: 'Never',
  always: 'Always',
  'at-most': 'Same call at most',
  only: 'Only these actions',
  cost: 'Cost at most',
  duration: 'Duration at most',
  'no-errors': 'No errors',
  'no-finding': 'No finding of kind',
  score: 'Score at least',
}

function toCondition(draft: MonitorDraft, windowMs: number): Condition | string {
  if (draft.kind === 'silence' || draft.kind === 'issue') return { kind: draft.kind, windowMs }
  if (draft.kind === 'rate') return toRate(draft, windowMs)
  const rule = toRule(draft)
  const sessions = Number(draft.sessions)
  if (typeof rule === 'string') return rule
  if (!Number.isInteger(sessions) || sessions < 1) return 'The number of sessions must be at least 1.'
  return { kind: 'rule', rule, windowMs, sessions }
}

function toRate(draft: MonitorDraft, windowMs: number): Condition | string {
  const { measure, is, isChange, score } = draft
  const limit = readLimit(draft)
  const minimum = Number(draft.minimum)
  if (limit === undefined) return `The limit must be like ${isChange ? '50%' : limitExamples[measure]}.`
  if (!Number.isInteger(minimum) || minimum < 0) return 'The minimum must be a whole number.'
  if (measure === 'score' && score.trim() === '') return 'Name the score, for example helpful.'
  return {
    kind: 'rate',
    measure,
    ...(measure === 'score' && { score: score.trim() }),
    is,
    limit,
    ...(isChange && { isChange }),
    windowMs,
    minimum,
  }
}

export const limitExamples: Record<MonitorDraft['measure'], string> = {
  'failure-rate': '5%',
  cost: '$2.50',
  p95: '8s',
  count: '100',
  score: '0.8',
}

function readLimit({ measure, limit, isChange }: MonitorDraft): number | undefined {
  const text = limit.trim()
  if (measure === 'p95' && !isChange) return parseDuration(text)
  const [, number, percent] = /^\$?(-?\d+(?:\.\d+)?)\s*(%)?$/.exec(text) ?? []
  if (number === undefined) return undefined
  return percent === undefined ? Number(number) : Number(number) / 100
}

function toRule({ ruleKind, action, before, number }: MonitorDraft): Rule | string {
  const name = action.trim()
  const value = Number(number)
  const isNumber = number.trim() !== '' && Number.isFinite(value)
  const list = name.split(',').flatMap((part) => part.trim() || [])
  switch (ruleKind) {
    case 'never':
      if (name === '') return 'Name the action, for example issue_refund.'
      return { kind: 'never', action: name, ...(before.trim() !== '' && { before: before.trim() }) }
    case 'always':
      return name === '' ? 'Name the action.' : { kind: 'always', action: name }
    case 'at-most':
      if (!Number.isInteger(value) || value < 1) return 'How often may the same call be made?'
      return { kind: 'at-most', times: value, ...(name !== '' && { action: name }) }
    case 'only':
      return list.length === 0 ? 'List the actions, separated by commas.' : { kind: 'only', actions: list }
    case 'cost':
      return isNumber && value >= 0 ? { kind: 'cost', atMost: value } : 'What may a session cost, in dollars?'
    case 'duration': {
      const atMostMs = parseDuration(number.trim())
      return atMostMs === undefined
        ? 'How long may a session take, for example 60s?'
        : { kind: 'duration', atMostMs }
    }
    case 'no-errors':
      return { kind: 'no-errors' }
    case 'no-finding': {
      const known = list.filter((kind): kind is FindingKind => kind in findingKinds)
      if (known.length === 0 || known.length < list.length)
        return `Choose from ${Object.keys(findingKinds).join(', ')}.`
      return { kind: 'no-finding', findings: known }
    }
    case 'score':
      if (name === '' || !isNumber) return 'Name the score and its lowest value.'
      return { kind: 'score', name, atLeast: value }
  }
}
