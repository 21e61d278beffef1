import { findingKinds } from '../findings/finding.ts'
import { endStates } from '../session/end-state.ts'
import { lanes } from '../session/rerun.ts'
import { durationRange, numberRange, parseScoreFilter, parseTime } from './filter-value.ts'
import { sessionFilterFields, type SessionFilterField } from './session-filter.ts'

export type FilterKey = {
  /** What people type before the colon. */
  name: string
  aliases?: readonly string[]
  parameter: SessionFilterField
  summary: string
  isRepeatable: boolean
  /** The field whose stored values are suggested. */
  valuesOf?: string
  /** Values that are always suggested. */
  choices?: readonly string[]
  /** Returns an error message if the value is invalid. */
  check?: (value: string) => string | undefined
}

type KeyOptions = Partial<Omit<FilterKey, 'parameter'>>

function filterKey(parameter: SessionFilterField, options: KeyOptions = {}): FilterKey {
  const field = sessionFilterFields[parameter]
  return {
    name: parameter,
    parameter,
    summary: field.summary,
    isRepeatable: 'several' in field,
    ...options,
  }
}

const checkChoice = (name: string, choices: readonly string[]) => (value: string) =>
  choices.includes(value) ? undefined : `${name} must be ${joinWithOr(choices)}, not “${value}”.`

const checkCost = (value: string) =>
  numberRange(value) === undefined
    ? `“${value}” is not an amount in dollars. Use cost:>0.01, cost:<=1 or cost:0.01..0.05.`
    : undefined

const checkDuration = (value: string) =>
  durationRange(value) === undefined
    ? `“${value}” is not a duration. Use duration:>2s, duration:<500ms or duration:1s..5m.`
    : undefined

const checkTime = (value: string) =>
  parseTime(value, 0) === undefined
    ? `“${value}” is not a time. Use from:24h, from:7d or from:2026-01-31T08:00:00Z.`
    : undefined

const checkScore = (value: string) =>
  parseScoreFilter(value) === undefined
    ? `“${value}” is not a score. Use score:helpful>=0.8, score:verdict=wrong or score:!verdict.`
    : undefined

const findingNames = Object.keys(findingKinds)
const rerunChoices = ['include', 'exclude']

/** The keys of the filter, in the order they are suggested. */
export const filterKeys: readonly FilterKey[] = [
  filterKey('status', { aliases: ['state'], choices: endStates, check: checkChoice('status', endStates) }),
  filterKey('tag', { valuesOf: 'tag' }),
  filterKey('tool', { aliases: ['action'], valuesOf: 'tool' }),
  filterKey('failedTool', { valuesOf: 'tool' }),
  filterKey('error', { valuesOf: 'error' }),
  filterKey('finding', { choices: findingNames, check: checkChoice('finding', findingNames) }),
  filterKey('issue'),
  filterKey('score', { valuesOf: 'score', choices: ['verdict=wrong', '!verdict'], check: checkScore }),
  filterKey('model', { valuesOf: 'model' }),
  filterKey('agent', { valuesOf: 'agent' }),
  filterKey('cost', { choices: ['>0.01', '>0.1', '<0.001'], check: checkCost }),
  filterKey('duration', { choices: ['>2s', '>1m', '<500ms'], check: checkDuration }),
  filterKey('name', { valuesOf: 'name' }),
  filterKey('user', { valuesOf: 'user' }),
  filterKey('thread', { valuesOf: 'thread' }),
  filterKey('environment', { aliases: ['env'], valuesOf: 'environment' }),
  filterKey('version', { valuesOf: 'version' }),
  filterKey('branch', { valuesOf: 'branch' }),
  filterKey('test', { valuesOf: 'test' }),
  filterKey('testFile'),
  filterKey('runId', { name: 'run', aliases: ['runId'] }),
  filterKey('variant'),
  filterKey('from', { aliases: ['since'], choices: ['24h', '7d', '30d'], check: checkTime }),
  filterKey('to', { aliases: ['until'], choices: ['1h', '24h'], check: checkTime }),
  filterKey('lane', { choices: lanes, check: checkChoice('lane', lanes) }),
  filterKey('parent'),
  filterKey('reruns', { choices: rerunChoices, check: checkChoice('reruns', rerunChoices) }),
  filterKey('demo', { choices: ['true', 'false'], check: checkChoice('demo', ['true', 'false']) }),
]

export function findFilterKey(typed: string): FilterKey | undefined {
  const word = typed.toLowerCase()
  return filterKeys.find(
    ({ name, aliases = [] }) =>
      name.toLowerCase() === word || aliases.some((alias) => alias.toLowerCase() === word),
  )
}

function joinWithOr(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
