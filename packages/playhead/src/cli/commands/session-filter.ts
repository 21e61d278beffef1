import { describeFilterField, endStates, lanes } from '@playhead/model'
import type { OptionSpecs, OptionValues } from '../arguments/command.ts'
import { checkChoice } from '../arguments/option-values.ts'
import type { Query } from '../client/api.ts'
import { UsageError } from '../terminal/cli-error.ts'

/**
 * Options that select sessions: every field of the API's filter, with dashes. `from` and `to` are `since` and `until`, and
 * `version` is `service-version`, because --version is that of the tool.
 */
export const filterOptions = {
  status: {
    type: 'list',
    value: 'state',
    summary: `${describeFilterField('status')}: ${endStates.join(', ')}`,
  },
  tag: { type: 'list', value: 'tag', summary: describeFilterField('tag') },
  model: { type: 'list', value: 'model', summary: describeFilterField('model') },
  tool: { type: 'list', value: 'name', summary: describeFilterField('tool') },
  'failed-tool': { type: 'list', value: 'name', summary: describeFilterField('failedTool') },
  error: { type: 'list', value: 'type', summary: describeFilterField('error') },
  finding: { type: 'list', value: 'kind', summary: describeFilterField('finding') },
  issue: { type: 'text', value: 'id', summary: describeFilterField('issue') },
  score: { type: 'list', value: 'score', summary: describeFilterField('score') },
  agent: { type: 'list', value: 'name', summary: describeFilterField('agent') },
  name: { type: 'text', value: 'text', summary: describeFilterField('name') },
  user: { type: 'text', value: 'id', summary: describeFilterField('user') },
  thread: { type: 'text', value: 'id', summary: describeFilterField('thread') },
  branch: { type: 'text', value: 'name', summary: describeFilterField('branch') },
  test: { type: 'text', value: 'name', summary: describeFilterField('test') },
  'test-file': { type: 'text', value: 'path', summary: describeFilterField('testFile') },
  'run-id': { type: 'text', value: 'id', summary: describeFilterField('runId') },
  variant: { type: 'text', value: 'name', summary: describeFilterField('variant') },
  environment: { type: 'text', value: 'name', summary: describeFilterField('environment') },
  'service-version': { type: 'text', value: 'version', summary: describeFilterField('version') },
  parent: { type: 'text', value: 'id', summary: describeFilterField('parent') },
  lane: { type: 'list', value: 'lane', summary: `${describeFilterField('lane')}: ${lanes.join(', ')}` },
  reruns: { type: 'text', value: 'include|exclude', summary: describeFilterField('reruns') },
  demo: { type: 'text', value: 'true|false', summary: describeFilterField('demo') },
  text: { type: 'text', value: 'words', summary: describeFilterField('text') },
  since: { type: 'text', value: 'time', summary: describeFilterField('from') },
  until: { type: 'text', value: 'time', summary: describeFilterField('to') },
  cost: { type: 'text', value: 'range', summary: describeFilterField('cost') },
  duration: { type: 'text', value: 'range', summary: describeFilterField('duration') },
} as const satisfies OptionSpecs

type FilterValues = OptionValues<typeof filterOptions>

/** Converts the filter options to the API's query parameters and drops all other options. */
export function toFilterQuery(given: FilterValues): Query {
  for (const status of given.status ?? []) checkChoice('status', status, endStates)
  for (const lane of given.lane ?? []) checkChoice('lane', lane, lanes)
  if (given.reruns !== undefined) checkChoice('reruns', given.reruns, ['include', 'exclude'])
  checkShapes(given)
  const { since, until, 'service-version': version, ...others } = given
  const filters = Object.entries(others)
    .filter(([name]) => Object.hasOwn(filterOptions, name))
    .map(([name, value]) => [toFieldName(name), value])
  return { ...Object.fromEntries(filters), from: since, to: until, version }
}

/** `failed-tool` is `failedTool` in the API. */
function toFieldName(option: string): string {
  return option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Catches obvious mistakes only; the server validates the rest. */
const shapes: readonly (readonly [
  option: 'since' | 'until' | 'cost' | 'duration',
  shape: RegExp,
  examples: string,
])[] = [
  ['since', /^\d/, '24h, 7d, 2026-01-31T08:00:00Z'],
  ['until', /^\d/, '1h, 7d, 2026-01-31T08:00:00Z'],
  ['cost', /^\s*[<>=]*\s*\$?\d/, '">0.01", "<=1", "0.01..0.05"'],
  ['duration', /^\s*[<>=]*\s*\d/, '">2s", "<500ms", "1s..5m"'],
]

function checkShapes(options: FilterValues): void {
  for (const [option, shape, examples] of shapes) {
    const value = options[option]
    if (value !== undefined && !shape.test(value))
      throw new UsageError(`--${option} can't be "${value}". Examples: ${examples}`)
  }
}
