import { durationRange, endStates, numberRange } from '@playhead/model'

export type FilterKey = {
  /** What people type before the colon. */
  name: string
  aliases?: readonly string[]
  /** The API's parameter. */
  parameter: string
  summary: string
  /** Several at once mean something: any of them, or all. */
  isRepeatable: boolean
  /** The field whose real values can be suggested. */
  valuesOf?: string
  /** Values that are always possible. */
  choices?: readonly string[]
  /** What is wrong with a value, as a sentence. */
  check?: (value: string) => string | undefined
}

const oneOf = (name: string, choices: readonly string[]) => (value: string) =>
  choices.includes(value) ? undefined : `${name} can be ${listed(choices)}, not “${value}”.`

const amount = (value: string) =>
  numberRange(value) === undefined
    ? `“${value}” is no amount of dollars: write cost:>0.01, cost:<=1 or cost:0.01..0.05.`
    : undefined

const stretch = (value: string) =>
  durationRange(value) === undefined
    ? `“${value}” is no duration: write duration:>2s, duration:<500ms or duration:1s..5m.`
    : undefined

/** What sessions can be filtered by, in the order in which it is suggested. */
export const filterKeys: readonly FilterKey[] = [
  {
    name: 'status',
    aliases: ['state'],
    parameter: 'status',
    summary: 'how it ended',
    isRepeatable: true,
    choices: endStates,
    check: oneOf('status', endStates),
  },
  { name: 'tag', parameter: 'tag', summary: 'has this tag', isRepeatable: true, valuesOf: 'tag' },
  {
    name: 'tool',
    aliases: ['action'],
    parameter: 'tool',
    summary: 'took this action',
    isRepeatable: true,
    valuesOf: 'tool',
  },
  {
    name: 'failedTool',
    parameter: 'failedTool',
    summary: 'took this action, and it failed',
    isRepeatable: true,
    valuesOf: 'tool',
  },
  { name: 'error', parameter: 'error', summary: 'had this error', isRepeatable: true, valuesOf: 'error' },
  { name: 'model', parameter: 'model', summary: 'called this model', isRepeatable: true, valuesOf: 'model' },
  {
    name: 'agent',
    parameter: 'agent',
    summary: 'this agent took part',
    isRepeatable: true,
    valuesOf: 'agent',
  },
  {
    name: 'cost',
    parameter: 'cost',
    summary: 'in US dollars',
    isRepeatable: false,
    choices: ['>0.01', '>0.1', '<0.001'],
    check: amount,
  },
  {
    name: 'duration',
    parameter: 'duration',
    summary: 'from start to end',
    isRepeatable: false,
    choices: ['>2s', '>1m', '<500ms'],
    check: stretch,
  },
  { name: 'name', parameter: 'name', summary: 'part of the name', isRepeatable: false, valuesOf: 'name' },
  { name: 'user', parameter: 'user', summary: 'of this user', isRepeatable: false, valuesOf: 'user' },
  {
    name: 'thread',
    parameter: 'thread',
    summary: 'of this conversation',
    isRepeatable: false,
    valuesOf: 'thread',
  },
  {
    name: 'environment',
    aliases: ['env'],
    parameter: 'environment',
    summary: 'where it ran',
    isRepeatable: false,
    valuesOf: 'environment',
  },
  { name: 'branch', parameter: 'branch', summary: 'git branch', isRepeatable: false, valuesOf: 'branch' },
  {
    name: 'test',
    parameter: 'test',
    summary: 'recorded in this test',
    isRepeatable: false,
    valuesOf: 'test',
  },
  { name: 'testFile', parameter: 'testFile', summary: 'file of the test', isRepeatable: false },
  { name: 'run', aliases: ['runId'], parameter: 'runId', summary: 'id of the test run', isRepeatable: false },
  { name: 'variant', parameter: 'variant', summary: 'input of the test', isRepeatable: false },
  {
    name: 'demo',
    parameter: 'demo',
    summary: 'the sessions of the demo',
    isRepeatable: false,
    choices: ['true', 'false'],
    check: oneOf('demo', ['true', 'false']),
  },
]

export function findFilterKey(typed: string): FilterKey | undefined {
  const word = typed.toLowerCase()
  return filterKeys.find(
    ({ name, aliases = [] }) =>
      name.toLowerCase() === word || aliases.some((alias) => alias.toLowerCase() === word),
  )
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
