import { type SessionSummary, formatCount } from '@playhead/model'
import { Api, type Query } from '../client/api.ts'
import { checkWord } from '../arguments/option-values.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import type { SessionPage } from '../client/sessions.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { Progress } from '../terminal/progress.ts'
import { readCount } from '../arguments/option-values.ts'
import { filterOptions, toFilterQuery } from './session-filter.ts'
import { renderSessionLine, renderSessionTable } from './session-table.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

const sessionOrders = ['time', 'cost', 'duration', 'steps', 'errors', 'tokens']
const DEFAULT_LIMIT = 20
const PAGE_SIZE = 500

export const lsCommand = defineCommand({
  name: 'ls',
  summary: 'sessions, newest first',
  details: `In a terminal: a table. In a pipe: a line a session, tab-separated: state, id, name, first input line, tags,
steps, tokens, cost in US dollars, duration in milliseconds, start. What is not known is empty.`,
  options: {
    ...filterOptions,
    sort: { type: 'text', value: 'by', summary: `${sessionOrders.join(', ')}; largest first` },
    limit: { type: 'text', value: 'n', summary: `how many at most (default ${DEFAULT_LIMIT})` },
    all: { type: 'flag', summary: 'all of them' },
    json: { type: 'flag', summary: 'as the API answers: { "sessions": […] }' },
  },
  examples: [
    ['playhead ls --status fail --since 24h', 'what failed since yesterday'],
    ['playhead ls --tag support --cost ">0.01" --sort cost', 'the dearest sessions with a tag'],
    ['playhead ls --tool issue_refund --text "charged twice"', 'who was refunded for that'],
    ['playhead ls --all --json | jq .sessions[].cost', 'everything, for a program'],
  ],
  async run({ options, globals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const filter = toFilterQuery(options)
    if (options.sort !== undefined) checkWord('sort', options.sort, sessionOrders)
    const limit = readLimit(options)
    const api = await Api.connect(settings, 'read')
    const writer = options.json === true ? jsonWriter(terminal) : listWriter(terminal)
    let [count, nextCursor]: [number, string | undefined] = [0, undefined]
    const progress = new Progress(terminal)
    try {
      for await (const page of readPages(api, { ...filter, sort: options.sort }, limit)) {
        count += page.sessions.length
        nextCursor = page.nextCursor
        writer.add(page.sessions)
        progress.show(`${formatCount(count)} sessions …`)
      }
    } finally {
      progress.clear()
    }
    writer.end(nextCursor)
    if (options.json === true) return
    if (count === 0) terminal.note(describeNothing(filter, settings))
    else if (nextCursor !== undefined && terminal.isInteractive)
      terminal.note('There are more: --limit 100 or --all shows them.')
  },
})

function readLimit({ limit, all }: { limit?: string; all?: boolean }): number {
  if (all !== true) return limit === undefined ? DEFAULT_LIMIT : readCount('--limit', limit)
  if (limit !== undefined) throw new UsageError('Give --limit or --all, not both.')
  return Infinity
}

async function* readPages(api: Api, query: Query, limit: number): AsyncGenerator<SessionPage, void> {
  let [left, cursor]: [number, string | undefined] = [limit, undefined]
  do {
    const size = Math.min(left, PAGE_SIZE)
    const page: SessionPage = await api.json('/api/sessions', {
      query: { ...query, limit: String(size), cursor },
    })
    yield page
    cursor = page.nextCursor
    left -= page.sessions.length
    if (page.sessions.length === 0) return
  } while (cursor !== undefined && left > 0)
}

type Writer = { add(sessions: readonly SessionSummary[]): void; end(nextCursor: string | undefined): void }

/** Lines as they come; a table when all of them are known, because of its widths. */
function listWriter(terminal: Terminal): Writer {
  if (!terminal.isInteractive)
    return {
      add: (sessions) => sessions.forEach((session) => terminal.print(renderSessionLine(session))),
      end() {},
    }
  const all: SessionSummary[] = []
  return {
    add: (sessions) => void all.push(...sessions),
    end() {
      if (all.length > 0) terminal.print(renderSessionTable(all, terminal, Date.now()))
    },
  }
}

/** One document, a session a line, written as the sessions come. */
function jsonWriter(terminal: Terminal): Writer {
  let separator = '{"sessions":[\n'
  return {
    add(sessions) {
      for (const session of sessions) {
        terminal.stdout.write(separator + printableJson(session))
        separator = ',\n'
      }
    },
    end(nextCursor) {
      const begin = separator === ',\n' ? '' : separator
      const cursor = nextCursor === undefined ? '' : `,"nextCursor":${printableJson(nextCursor)}`
      terminal.print(`${begin}\n]${cursor}}`)
    },
  }
}

function describeNothing(filter: Query, { endpoint, project }: Settings): string {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if (isFiltered) return 'No session matches. Without a filter: playhead ls'
  return `There are no sessions yet${project === undefined ? '' : ` in project ${project}`} at ${endpoint}. To record one:

  import * as playhead from 'playhead'
  playhead.init()
  await playhead.withSession({ name: 'support' }, async () => runYourAgent())

An app with OpenTelemetry needs no code: OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`
}
