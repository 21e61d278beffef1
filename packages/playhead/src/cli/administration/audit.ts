import { defineCommand } from '../arguments/command.ts'
import { parseCount } from '../arguments/option-values.ts'
import { Api, type Query } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Entry = {
  at: string
  action: string
  project: string | null
  caller: { kind: string; name: string; address: string }
  subject: string
  detail: string
}
type Page = { entries: Entry[]; nextCursor?: string }

const DEFAULT_LIMIT = 50
const PAGE_SIZE = 500

export const auditCommand = defineCommand({
  name: 'audit',
  summary: 'Show who logged in, used keys, changed settings, deleted or restored',
  details: `Newest first. With --project, only what concerns that project. When piped, prints one tab-separated line per
entry: time, action, project, kind of caller, its name, address, subject, detail.`,
  options: {
    action: {
      type: 'text',
      value: 'action',
      summary: 'Only this action or group: login, key, project, sessions, backup, key.refused, …',
    },
    text: { type: 'text', value: 'text', summary: 'Only entries that contain this text' },
    since: { type: 'text', value: 'time', summary: 'Only from this time on, as 2026-01-31T08:00:00Z' },
    limit: { type: 'text', value: 'n', summary: `Maximum number of entries (default ${DEFAULT_LIMIT})` },
    json: { type: 'flag', summary: 'Print JSON: { "entries": […] }' },
  },
  examples: [
    ['playhead audit --action login', 'Who logged in, and who tried to'],
    ['playhead audit --project shop --action sessions.deleted', 'What was deleted'],
    ['playhead audit --limit 10000 --json > audit.json', 'Keep a copy'],
  ],
  async run({ options, globals, terminal }) {
    const limit = options.limit === undefined ? DEFAULT_LIMIT : parseCount('--limit', options.limit)
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const { action, text, since } = options
    const entries = await readEntries(api, { action, text, from: since }, limit)
    if (options.json === true) return terminal.print(printableJson({ entries }, 2))
    if (entries.length === 0) return terminal.note('No entries match.')
    printEntries(entries, terminal)
  },
})

async function readEntries(api: Api, query: Query, limit: number): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | undefined
  do {
    const size = String(Math.min(PAGE_SIZE, limit - entries.length))
    const page: Page = await api.json('/api/audit', { query: { ...query, limit: size, cursor } })
    entries.push(...page.entries)
    cursor = page.nextCursor
  } while (cursor !== undefined && entries.length < limit)
  return entries
}

function printEntries(entries: readonly Entry[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { at, action, project, caller, subject, detail } of entries)
      terminal.print(
        [at, action, project ?? '', caller.kind, caller.name, caller.address, subject, detail]
          .map(plainLine)
          .join('\t'),
      )
    return
  }
  const columns = [
    { title: 'Time (UTC)', text: ({ at }: Entry) => plainLine(at).slice(0, 19).replace('T', ' ') },
    { title: 'Action', text: ({ action }: Entry) => plainLine(action) },
    { title: 'Project', text: ({ project }: Entry) => plainLine(project ?? ''), dropOrder: 3 },
    { title: 'Who', text: ({ caller }: Entry) => describeCaller(caller), minWidth: 8 },
    { title: 'Address', text: ({ caller }: Entry) => plainLine(caller.address), dropOrder: 2 },
    { title: 'What', text: describeWhat, minWidth: 12, dropOrder: 1 },
  ]
  terminal.print(renderTable(columns, entries, terminal))
}

function describeCaller({ kind, name }: Entry['caller']): string {
  return name === '' ? plainLine(kind) : `${plainLine(kind)} ${plainLine(name)}`
}

function describeWhat({ subject, detail }: Entry): string {
  return [subject, detail]
    .map(plainLine)
    .filter((part) => part !== '')
    .join(': ')
}
