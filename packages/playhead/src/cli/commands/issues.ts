import { countOf, formatAge, formatCount, shortSessionId } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice, parseCount } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Issue = {
  id: string
  kind: string
  title: string
  state: 'open' | 'reopened' | 'resolved' | 'ignored'
  sessions: number
  users: number
  firstSeenAt: string
  lastSeenAt: string
  versions: string[]
  exampleSessionId: string
  passingSessionId: string | null
  resolvedVersion?: string
  ignoredUntil?: number
  note?: string
}

type IssueDetail = Issue & {
  byVersion: { version: string; sessions: number; firstSeenAt: string; lastSeenAt: string }[]
  suspects: { name: string; kind: string; sessions: number }[]
  example: { sentence: string }
}

const states = ['open', 'reopened', 'resolved', 'ignored', 'all']
const SHORT_ID = 8
const json = { type: 'flag', summary: "Print the API's response" } as const
const note = { type: 'text', value: 'text', summary: 'Write a note on the issue' } as const

const listCommand = defineCommand({
  name: 'issues',
  summary: 'List issues: sessions with the same failure',
  details: `An issue opens again by itself when it is seen in a later version than the one it was resolved in, or after as many
sessions as you ignored it for. When piped, prints one tab-separated line per issue: state, id, kind, sessions, users,
last seen, title.`,
  options: {
    state: {
      type: 'text',
      value: 'state',
      summary: `${states.join(', ')} (default open, with those that were reopened)`,
    },
    json,
  },
  examples: [
    ['playhead issues', 'What is open'],
    ['playhead issues show 1a2b3c4d', 'One issue, by version, with its suspects'],
    ['playhead issues resolve 1a2b3c4d --in 2.1.0', 'Fixed in a version'],
  ],
  async run({ options, globals, terminal }) {
    const { state = 'open' } = options
    checkChoice('state', state, states)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const answer = await readIssues(api, state)
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.issues.length === 0)
      return terminal.note(
        state === 'all' ? 'There are no issues.' : `There are no issues that are ${state}.`,
      )
    printIssues(answer.issues, terminal)
    if (answer.omitted > 0)
      terminal.note(
        `${countOf(answer.omitted, 'more issue')} of any state, seen longer ago, can't be listed.`,
      )
  },
})

const showCommand = defineCommand({
  name: 'issues show',
  arguments: ['issue'],
  summary: 'Show one issue: versions, suspects and example sessions',
  details: '<issue> is an id or its first digits.',
  options: { json },
  examples: [['playhead issues show 1a2b3c4d', 'Use an id from: playhead issues']],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'read')
    const { id } = await findIssue(api, positionals[0] ?? '')
    const issue = await api.json<IssueDetail>(`/api/issues/${id}`)
    terminal.print(options.json === true ? printableJson(issue, 2) : describeIssue(issue))
  },
})

type Change = { state?: 'open' | 'resolved' | 'ignored'; version?: string; sessions?: number; note?: string }

const resolveCommand = defineCommand({
  name: 'issues resolve',
  arguments: ['issue'],
  summary: 'Resolve an issue in a version',
  options: {
    in: { type: 'text', value: 'version', summary: 'The version with the fix (default: the newest seen)' },
    note,
    json,
  },
  examples: [['playhead issues resolve 1a2b3c4d --in 2.1.0', 'It opens again if a later version has it']],
  run: ({ options, globals, positionals, terminal }) =>
    changeIssue(
      positionals[0],
      { state: 'resolved', ...(options.in !== undefined && { version: options.in }), ...noteOf(options) },
      { settings: readSettings(globals, terminal.environment), terminal, isJson: options.json === true },
    ),
})

const ignoreCommand = defineCommand({
  name: 'issues ignore',
  arguments: ['issue'],
  summary: 'Ignore an issue, for a number of sessions or forever',
  options: {
    for: { type: 'text', value: 'n', summary: 'Open it again after n more sessions (default: never)' },
    note,
    json,
  },
  examples: [['playhead issues ignore 1a2b3c4d --for 100', 'Until 100 more sessions have it']],
  run: ({ options, globals, positionals, terminal }) =>
    changeIssue(
      positionals[0],
      {
        state: 'ignored',
        ...(options.for !== undefined && { sessions: parseCount('--for', options.for) }),
        ...noteOf(options),
      },
      { settings: readSettings(globals, terminal.environment), terminal, isJson: options.json === true },
    ),
})

const reopenCommand = defineCommand({
  name: 'issues reopen',
  arguments: ['issue'],
  summary: 'Open a resolved or ignored issue again',
  options: { note, json },
  examples: [['playhead issues reopen 1a2b3c4d', 'It was no fix']],
  run: ({ options, globals, positionals, terminal }) =>
    changeIssue(
      positionals[0],
      { state: 'open', ...noteOf(options) },
      { settings: readSettings(globals, terminal.environment), terminal, isJson: options.json === true },
    ),
})

const noteCommand = defineCommand({
  name: 'issues note',
  arguments: ['issue'],
  summary: 'Write a note on an issue, or remove it',
  options: { note, clear: { type: 'flag', summary: 'Remove the note' }, json },
  examples: [['playhead issues note 1a2b3c4d --note "Ada looks into it"', 'Say who works on it']],
  run({ options, globals, positionals, terminal }) {
    const text = options.clear === true ? '' : options.note
    if (text === undefined) throw new UsageError('Pass --note with a text, or --clear to remove the note.')
    const settings = readSettings(globals, terminal.environment)
    return changeIssue(positionals[0], { note: text }, { settings, terminal, isJson: options.json === true })
  },
})

export const issueCommands = [
  listCommand,
  showCommand,
  resolveCommand,
  ignoreCommand,
  reopenCommand,
  noteCommand,
]

function noteOf(options: { note?: string }): Change {
  return options.note === undefined ? {} : { note: options.note }
}

async function changeIssue(
  typedId: string | undefined,
  body: Change,
  {
    settings,
    terminal,
    isJson,
  }: { settings: ReturnType<typeof readSettings>; terminal: Terminal; isJson: boolean },
): Promise<void> {
  const api = await Api.connect(settings, 'admin')
  const { id } = await findIssue(api, typedId ?? '')
  const issue = await api.json<Issue>(`/api/issues/${id}`, { method: 'PATCH', body })
  if (isJson) return terminal.print(printableJson(issue, 2))
  terminal.note(`${issue.id.slice(0, SHORT_ID)} is ${describeState(issue)}.`)
}

function readIssues(api: Api, state: string): Promise<{ issues: Issue[]; omitted: number }> {
  return api.json<{ issues: Issue[]; omitted: number }>('/api/issues', {
    query: { ...(state !== 'all' && { state }) },
  })
}

async function findIssue(api: Api, typedId: string): Promise<Issue> {
  const { issues } = await readIssues(api, 'all')
  const found = issues.filter(({ id }) => typedId !== '' && id.startsWith(typedId.toLowerCase()))
  const [issue] = found
  if (issue === undefined)
    throw new CliError(`There is no issue ${plainLine(typedId)}. To list them: playhead issues --state all`)
  if (found.length > 1)
    throw new CliError(
      `${countOf(found.length, 'issue')} begin with ${plainLine(typedId)}. Type more digits.`,
    )
  return issue
}

function printIssues(issues: readonly Issue[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { state, id, kind, sessions, users, lastSeenAt, title } of issues)
      terminal.print([state, id, kind, sessions, users, lastSeenAt, plainLine(title)].join('\t'))
    return
  }
  const { paint } = terminal
  const columns = [
    { title: 'Issue', text: ({ id }: Issue) => id.slice(0, SHORT_ID) },
    {
      title: 'State',
      text: ({ state }: Issue) => state,
      paint: (text: string, { state }: Issue) => paint(state === 'reopened' ? 'red' : 'dim', text),
    },
    { title: 'Title', text: ({ title }: Issue) => plainLine(title), minWidth: 24 },
    { title: 'Kind', text: ({ kind }: Issue) => kind, dropOrder: 2 },
    { title: 'Sessions', text: ({ sessions }: Issue) => formatCount(sessions), align: 'right' as const },
    {
      title: 'Users',
      text: ({ users }: Issue) => formatCount(users),
      align: 'right' as const,
      dropOrder: 1,
    },
    { title: 'Last seen', text: ({ lastSeenAt }: Issue) => ageOf(lastSeenAt), dropOrder: 3 },
  ]
  terminal.print(renderTable(columns, issues, terminal))
}

function describeIssue(issue: IssueDetail): string {
  const { id, kind, title, sessions, users, firstSeenAt, lastSeenAt, byVersion, suspects } = issue
  const versions = byVersion.map(
    ({ version, sessions: count, lastSeenAt: last }) =>
      `  ${plainLine(version) || '(unknown)'}  ${countOf(count, 'session')}, last seen ${ageOf(last)}`,
  )
  const named = suspects.map(
    ({ name, kind: why, sessions: count }) => `  ${plainLine(name)}  ${why}, ${countOf(count, 'session')}`,
  )
  return [
    `${id.slice(0, SHORT_ID)}  ${plainLine(title)}`,
    `${kind} | ${describeState(issue)} | ${countOf(sessions, 'session')}, ${countOf(users, 'user')} | first seen ${ageOf(firstSeenAt)}, last seen ${ageOf(lastSeenAt)}`,
    ...(issue.note === undefined ? [] : [`Note: ${plainLine(issue.note)}`]),
    '',
    ...(versions.length === 0 ? [] : ['Versions:', ...versions, '']),
    ...(named.length === 0 ? [] : ['Suspects:', ...named, '']),
    `Example: playhead show ${shortSessionId(issue.exampleSessionId)}`,
    ...(issue.passingSessionId === null
      ? []
      : [
          `Compare: playhead diff ${shortSessionId(issue.passingSessionId)} ${shortSessionId(issue.exampleSessionId)}`,
        ]),
  ].join('\n')
}

function describeState({ state, resolvedVersion, ignoredUntil }: Issue): string {
  if (state === 'resolved' && resolvedVersion !== undefined)
    return `resolved in ${plainLine(resolvedVersion)}`
  if (state === 'ignored' && ignoredUntil !== undefined)
    return `ignored until ${countOf(ignoredUntil, 'session')}`
  return state
}

function ageOf(time: string): string {
  return formatAge(time, Date.now())
}
