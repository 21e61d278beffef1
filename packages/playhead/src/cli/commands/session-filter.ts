import { endStates } from '@playhead/model'
import type { Query } from '../client/api.ts'
import { checkWord } from '../arguments/option-values.ts'
import { UsageError } from '../terminal/cli-error.ts'
import type { OptionSpecs, OptionValues } from '../arguments/command.ts'

/** What sessions can be chosen by. */
export const filterOptions = {
  status: {
    type: 'list',
    value: 'state',
    summary: `end state: ${endStates.join(', ')}; several: any of them`,
  },
  tag: { type: 'list', value: 'tag', summary: 'has this tag; several: all of them' },
  model: { type: 'list', value: 'model', summary: 'called this model; several: any of them' },
  tool: { type: 'list', value: 'name', summary: 'took this action; several: all of them' },
  agent: { type: 'list', value: 'name', summary: 'this agent took part; several: all of them' },
  name: { type: 'text', value: 'part', summary: 'part of the name or of the first input line' },
  user: { type: 'text', value: 'id', summary: 'user id' },
  thread: { type: 'text', value: 'id', summary: 'thread id' },
  branch: { type: 'text', value: 'name', summary: 'git branch' },
  test: { type: 'text', value: 'name', summary: 'name of the test it was recorded in' },
  text: { type: 'text', value: 'words', summary: 'words in prompts, answers, arguments, results or names' },
  since: { type: 'text', value: 'time', summary: 'started at or after: 24h, 7d, or an ISO time' },
  until: { type: 'text', value: 'time', summary: 'started before: 1h, or an ISO time' },
  cost: { type: 'text', value: 'range', summary: 'US dollars: ">0.01", "<=1", "0.01..0.05"' },
  duration: { type: 'text', value: 'range', summary: '">2s", "<500ms", "1s..5m"' },
} as const satisfies OptionSpecs

type FilterValues = OptionValues<typeof filterOptions>

/** The filter as the server takes it; what else was typed is left out. */
export function toFilterQuery(given: FilterValues): Query {
  for (const status of given.status ?? []) checkWord('status', status, endStates)
  checkShapes(given)
  const { since, until, ...others } = given
  const filters = Object.entries(others).filter(([name]) => Object.hasOwn(filterOptions, name))
  return { ...Object.fromEntries(filters), from: since, to: until }
}

/** Only what can't be meant is refused here: what a filter may hold is the server's to say. */
const shapes: readonly (readonly [
  option: 'since' | 'until' | 'cost' | 'duration',
  shape: RegExp,
  example: string,
])[] = [
  ['since', /^\d/, '24h, 7d or 2026-01-31T08:00:00Z'],
  ['until', /^\d/, '1h, 7d or 2026-01-31T08:00:00Z'],
  ['cost', /^\s*[<>=]*\s*\$?\d/, '">0.01", "<=1" or "0.01..0.05"'],
  ['duration', /^\s*[<>=]*\s*\d/, '">2s", "<500ms" or "1s..5m"'],
]

function checkShapes(options: FilterValues): void {
  for (const [option, shape, example] of shapes) {
    const value = options[option]
    if (value !== undefined && !shape.test(value))
      throw new UsageError(`--${option} is "${value}"; it looks like ${example}.`)
  }
}
