import { formatAge } from '@playhead/model'
import { Api } from '../client/api.ts'
import { defineCommand } from '../arguments/command.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readSettings } from '../client/settings.ts'
import { renderTable } from '../terminal/table.ts'
import { plainLine, type Terminal } from '../terminal/terminal.ts'

/** A key as the server tells of it: its secret is known only when it is created. */
type Key = {
  id: string
  project: string
  name: string
  hint: string
  scopes: string[]
  createdAt: string
  revokedAt: string | null
}

const json = { type: 'flag', summary: 'as the API answers' } as const

export const keysListCommand = defineCommand({
  name: 'keys list',
  summary: 'the keys of a project, without their secrets',
  options: { json },
  examples: [['playhead keys list --project shop', 'who may send to the project, and read it']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const answer = await api.json<{ keys: Key[] }>('/api/keys')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.keys.length === 0)
      return terminal.note('There are no keys yet: playhead keys create --name ci')
    printKeys(answer.keys, terminal)
  },
})

export const keysCreateCommand = defineCommand({
  name: 'keys create',
  summary: 'a new key; its secret is shown once',
  details: 'The secret is all that is written to stdout, so that it can be kept in a variable or a file.',
  options: {
    name: { type: 'text', value: 'name', summary: 'what it is for (default: playhead)' },
    scope: {
      type: 'list',
      value: 'scope',
      summary: 'ingest, read or admin; may be repeated (default: ingest and read)',
    },
    uuid: { type: 'flag', summary: 'a secret that is a UUID, for AgentOps SDKs' },
    json,
  },
  examples: [
    ['playhead keys create --name ci', 'for a build that records and checks'],
    ['playhead keys create --name agent --scope ingest', 'for an agent that only records'],
    ['export PLAYHEAD_API_KEY=$(playhead keys create --name me)', 'use it at once'],
    ['export AGENTOPS_API_KEY=$(playhead keys create --uuid)', 'for a program that uses agentops'],
  ],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const body = {
      name: options.name ?? 'playhead',
      ...(options.scope !== undefined && { scopes: options.scope }),
      ...(options.uuid === true && { format: 'uuid' }),
    }
    const answer = await api.json<{ key: Key; secret: string }>('/api/keys', { method: 'POST', body })
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    const { name, project, scopes } = answer.key
    terminal.note(
      `Key "${plainLine(name)}" of project ${plainLine(project)} may ${scopes.map(plainLine).join(' and ')}. Its secret is shown this once; keep it, and set PLAYHEAD_API_KEY to it:`,
    )
    terminal.print(plainLine(answer.secret))
  },
})

export const keysRevokeCommand = defineCommand({
  name: 'keys revoke',
  arguments: ['id'],
  summary: 'a key stops working at once',
  options: { json },
  examples: [
    ['playhead keys revoke 6f1c2c0e-4f1d-4c8e-9a65-0a4b8f0e7d11', 'the id is the one of: playhead keys list'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const key = await api.json<Key>(`/api/keys/${encodeURIComponent(positionals[0] ?? '')}`, {
      method: 'DELETE',
    })
    if (options.json === true) return terminal.print(printableJson(key, 2))
    terminal.note(`Key "${plainLine(key.name)}" (${plainLine(key.hint)}…) is revoked.`)
  },
})

function printKeys(keys: readonly Key[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { id, name, hint, scopes, createdAt, revokedAt } of keys)
      terminal.print([id, name, hint, scopes.join(','), createdAt, revokedAt ?? ''].map(plainLine).join('\t'))
    return
  }
  const nowMs = Date.now()
  const columns = [
    { title: 'Id', text: ({ id }: Key) => plainLine(id) },
    { title: 'Name', text: ({ name }: Key) => plainLine(name), shrinksTo: 10 },
    { title: 'Secret', text: ({ hint }: Key) => `${plainLine(hint)}…`, dropOrder: 2 },
    { title: 'May', text: ({ scopes }: Key) => scopes.map(plainLine).join(', '), dropOrder: 3 },
    { title: 'Created', text: ({ createdAt }: Key) => formatAge(createdAt, nowMs), dropOrder: 1 },
    { title: 'State', text: ({ revokedAt }: Key) => (revokedAt === null ? '✓ works' : '✗ revoked') },
  ]
  terminal.print(renderTable(columns, keys, terminal))
}
