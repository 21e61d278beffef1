import {
  durationRange,
  endStates,
  numberRange,
  sessionFilterFields,
  type SessionFilterField,
} from '@playhead/model'

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

/** The keys of the filter, in the order they are suggested. */
export const filterKeys: readonly FilterKey[] = [
  filterKey('status', { aliases: ['state'], choices: endStates, check: checkChoice('status', endStates) }),
  filterKey('tag', { valuesOf: 'tag' }),
  filterKey('tool', { aliases: ['action'], valuesOf: 'tool' }),
  filterKey('failedTool', { valuesOf: 'tool' }),
  filterKey('error', { valuesOf: 'error' }),
  filterKey('model', { valuesOf: 'model' }),
  filterKey('agent', { valuesOf: 'agent' }),
  filterKey('cost', { choices: ['>0.01', '>0.1', '<0.001'], check: checkCost }),
  filterKey('duration', { choices: ['>2s', '>1m', '<500ms'], check: checkDuration }),
  filterKey('name', { valuesOf: 'name' }),
  filterKey('user', { valuesOf: 'user' }),
  filterKey('thread', { valuesOf: 'thread' }),
  filterKey('environment', { aliases: ['env'], valuesOf: 'environment' }),
  filterKey('branch', { valuesOf: 'branch' }),
  filterKey('test', { valuesOf: 'test' }),
  filterKey('testFile'),
  filterKey('runId', { name: 'run', aliases: ['runId'] }),
  filterKey('variant'),
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
