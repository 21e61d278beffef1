import { formatAge } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { parseExpiry } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The server returns the secret only when it creates the key. */
type Key = {
  id: string
  project: string
  name: string
  hint: string
  scopes: string[]
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  /** To the minute. */
  lastUsedAt: string | null
}

const json = { type: 'flag', summary: "Print the API's response" } as const

export const keysListCommand = defineCommand({
  name: 'keys list',
  summary: 'List the API keys of a project, without their secrets',
  options: { json },
  examples: [['playhead keys list --project shop', 'Keys with access to one project']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const answer = await api.json<{ keys: Key[] }>('/api/keys')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.keys.length === 0)
      return terminal.note('There are no keys yet. Create one with: playhead keys create --name ci')
    printKeys(answer.keys, terminal)
  },
})

export const keysCreateCommand = defineCommand({
  name: 'keys create',
  summary: 'Create an API key and print its secret once',
  details: 'Only the secret goes to stdout, so you can capture it in a variable or a file.',
  options: {
    name: { type: 'text', value: 'name', summary: 'Name of the key (default: playhead)' },
    scope: {
      type: 'list',
      value: 'scope',
      summary: 'ingest, read or admin; can be repeated (default: ingest and read)',
    },
    expires: {
      type: 'text',
      value: 'when',
      summary: 'When it stops working: 12h, 30d, 2027-01-31 (default: never)',
    },
    uuid: { type: 'flag', summary: 'Make the secret a UUID, as AgentOps SDKs require' },
    json,
  },
  examples: [
    ['playhead keys create --name ci', 'For a build that records and checks sessions'],
    ['playhead keys create --name agent --scope ingest --expires 90d', 'For an agent that only records'],
    ['export PLAYHEAD_API_KEY=$(playhead keys create --name me)', 'Create a key and use it right away'],
    ['export AGENTOPS_API_KEY=$(playhead keys create --uuid)', 'For a program that uses AgentOps'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const body = {
      name: options.name ?? 'playhead',
      ...(options.scope !== undefined && { scopes: options.scope }),
      ...(options.uuid === true && { format: 'uuid' }),
      ...(options.expires !== undefined && { expiresAt: parseExpiry(options.expires, Date.now()) }),
    }
    const answer = await api.json<{ key: Key; secret: string }>('/api/keys', { method: 'POST', body })
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    const { name, project, scopes, expiresAt } = answer.key
    const until =
      expiresAt === null ? '' : `, until ${plainLine(expiresAt.slice(0, 16).replace('T', ' '))} UTC`
    terminal.note(
      `Created key "${plainLine(name)}" in project ${plainLine(project)} with scopes ${scopes.map(plainLine).join(', ')}${until}. Save the secret now; it is not shown again. Set PLAYHEAD_API_KEY to it:`,
    )
    terminal.print(plainLine(answer.secret))
  },
})

export const keysRevokeCommand = defineCommand({
  name: 'keys revoke',
  arguments: ['id'],
  summary: 'Revoke an API key; it stops working immediately',
  options: { json },
  examples: [
    ['playhead keys revoke 6f1c2c0e-4f1d-4c8e-9a65-0a4b8f0e7d11', 'Use an id from: playhead keys list'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const key = await api.json<Key>(`/api/keys/${encodeURIComponent(positionals[0] ?? '')}`, {
      method: 'DELETE',
    })
    if (options.json === true) return terminal.print(printableJson(key, 2))
    terminal.note(`Revoked key "${plainLine(key.name)}" (${plainLine(key.hint)}…).`)
  },
})

function printKeys(keys: readonly Key[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { id, name, hint, scopes, createdAt, revokedAt, expiresAt, lastUsedAt } of keys)
      terminal.print(
        [id, name, hint, scopes.join(','), createdAt, revokedAt ?? '', expiresAt ?? '', lastUsedAt ?? '']
          .map(plainLine)
          .join('\t'),
      )
    return
  }
  const nowMs = Date.now()
  const columns = [
    { title: 'ID', text: ({ id }: Key) => plainLine(id) },
    { title: 'Name', text: ({ name }: Key) => plainLine(name), minWidth: 10 },
    { title: 'Secret', text: ({ hint }: Key) => `${plainLine(hint)}…`, dropOrder: 2 },
    { title: 'Scopes', text: ({ scopes }: Key) => scopes.map(plainLine).join(', '), dropOrder: 3 },
    { title: 'Created', text: ({ createdAt }: Key) => formatAge(createdAt, nowMs), dropOrder: 1 },
    {
      title: 'Last used',
      text: ({ lastUsedAt }: Key) => (lastUsedAt === null ? 'never' : formatAge(lastUsedAt, nowMs)),
      dropOrder: 4,
    },
    { title: 'State', text: (key: Key) => describeState(key, nowMs) },
  ]
  terminal.print(renderTable(columns, keys, terminal))
}

function describeState({ revokedAt, expiresAt }: Key, nowMs: number): string {
  if (revokedAt !== null) return '✗ revoked'
  if (expiresAt === null) return '✓ active'
  const day = plainLine(expiresAt).slice(0, 10)
  return Date.parse(expiresAt) > nowMs ? `✓ until ${day}` : `✗ expired ${day}`
}
