import { formatCount, type SessionSummary } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { checkChoice, parseCount } from '../arguments/option-values.ts'
import { Api, type Query } from '../client/api.ts'
import { readSessionPages } from '../client/sessions.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { Progress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { filterOptions, toFilterQuery } from './session-filter.ts'
import { renderSessionLine, renderSessionTable } from './session-table.ts'

const sessionOrders = ['time', 'cost', 'duration', 'steps', 'errors', 'tokens']
const DEFAULT_LIMIT = 20

export const lsCommand = defineCommand({
  name: 'ls',
  summary: 'List sessions, newest first',
  details: `Prints a table in a terminal. When piped, prints one tab-separated line per session: state, id, name, first
input line, tags, steps, tokens, cost in US dollars, duration in milliseconds, start time, and of a re-run its lane and
the id of the session that it ran again. Unknown values are empty.`,
  options: {
    ...filterOptions,
    sort: {
      type: 'text',
      value: 'by',
      summary: `${sessionOrders.join(', ')}; newest or largest first (default time)`,
    },
    limit: { type: 'text', value: 'n', summary: `Maximum number of sessions (default ${DEFAULT_LIMIT})` },
    all: { type: 'flag', summary: 'List all sessions' },
    json: { type: 'flag', summary: 'Print JSON: { "sessions": […] }' },
  },
  examples: [
    ['playhead ls --status fail --since 24h', 'What failed since yesterday'],
    ['playhead ls --tag support --cost ">0.01" --sort cost', 'The most expensive sessions with a tag'],
    ['playhead ls --tool issue_refund --text "charged twice"', 'Refunds for double charges'],
    ['playhead ls --all --json | jq .sessions[].cost', 'Feed all sessions to another program'],
  ],
  async run({ options, globals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const filter = toFilterQuery(options)
    if (options.sort !== undefined) checkChoice('sort', options.sort, sessionOrders)
    const limit = readLimit(options)
    const api = await Api.connect(settings, 'read')
    const writer = options.json === true ? jsonWriter(terminal) : listWriter(terminal)
    let [count, nextCursor]: [number, string | undefined] = [0, undefined]
    const progress = new Progress(terminal)
    try {
      for await (const page of readSessionPages(api, { ...filter, sort: options.sort }, limit)) {
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
    if (count === 0) terminal.note(describeEmptyList(filter, settings))
    else if (nextCursor !== undefined && terminal.isInteractive)
      terminal.note('There are more sessions. To see them, use --limit 100 or --all.')
  },
})

function readLimit({ limit, all }: { limit?: string; all?: boolean }): number {
  if (all !== true) return limit === undefined ? DEFAULT_LIMIT : parseCount('--limit', limit)
  if (limit !== undefined) throw new UsageError('Use either --limit or --all, not both.')
  return Infinity
}

type Writer = { add(sessions: readonly SessionSummary[]): void; end(nextCursor: string | undefined): void }

/** Writes lines as they arrive, but a table only at the end, when the column widths are known. */
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

/** Writes one JSON document as the sessions arrive, one per line. */
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

function describeEmptyList(filter: Query, { endpoint, project }: Settings): string {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if (isFiltered) return 'No sessions match. To list all: playhead ls'
  return `There are no sessions yet${project === undefined ? '' : ` in project ${project}`} at ${endpoint}. To record one:

  import * as playhead from 'playhead'
  playhead.init()
  await playhead.withSession({ name: 'support' }, async () => runYourAgent())

An app that already uses OpenTelemetry needs no code: OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`
}
