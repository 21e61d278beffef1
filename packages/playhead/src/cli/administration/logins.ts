import { countOf, formatAge } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type Login = {
  id: string
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
  address: string
  device: string
  isCurrent: boolean
}

const json = { type: 'flag', summary: "Print the API's response" } as const

export const loginsListCommand = defineCommand({
  name: 'logins list',
  summary: 'List where people are logged in',
  options: { json },
  examples: [['playhead logins list', 'Browsers and programs that used the password']],
  async run({ options, globals, terminal }) {
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const answer = await api.json<{ logins: Login[] }>('/api/logins')
    if (options.json === true) return terminal.print(printableJson(answer, 2))
    if (answer.logins.length === 0) return terminal.note('Nobody is logged in.')
    printLogins(answer.logins, terminal)
  },
})

export const loginsEndCommand = defineCommand({
  name: 'logins end',
  arguments: ['ids…'],
  summary: 'End logins; their cookies stop working immediately',
  options: { others: { type: 'flag', summary: 'End all logins except the one of this command' }, json },
  examples: [
    ['playhead logins end 5f0c1a9e0b7d4c3fa1b2c3d4e5f60718', 'Use an id from: playhead logins list'],
    ['playhead logins end --others', 'After a laptop was lost'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const isAll = options.others === true
    if (isAll === positionals.length > 0)
      throw new UsageError('Pass the ids of logins (playhead logins list), or --others.')
    const api = await Api.connect(readSettings(globals, terminal.environment), 'server')
    const ended = isAll
      ? (await api.json<{ ended: number }>('/api/logins/end-others', { method: 'POST' })).ended
      : await endEach(api, positionals)
    if (options.json === true) return terminal.print(printableJson({ ended }, 2))
    terminal.note(`Ended ${countOf(ended, 'login')}.`)
  },
})

async function endEach(api: Api, ids: readonly string[]): Promise<number> {
  for (const id of ids) await api.json(`/api/logins/${encodeURIComponent(id)}`, { method: 'DELETE' })
  return ids.length
}

function printLogins(logins: readonly Login[], terminal: Terminal): void {
  if (!terminal.isInteractive) {
    for (const { id, device, address, createdAt, lastUsedAt, expiresAt } of logins)
      terminal.print([id, device, address, createdAt, lastUsedAt ?? '', expiresAt].map(plainLine).join('\t'))
    return
  }
  const nowMs = Date.now()
  const columns = [
    { title: 'ID', text: ({ id }: Login) => plainLine(id) },
    { title: 'Device', text: ({ device }: Login) => plainLine(device), minWidth: 12 },
    { title: 'Address', text: ({ address }: Login) => plainLine(address), dropOrder: 2 },
    { title: 'Started', text: ({ createdAt }: Login) => formatAge(createdAt, nowMs), dropOrder: 1 },
    {
      title: 'Last used',
      text: ({ isCurrent, lastUsedAt }: Login) =>
        isCurrent ? 'now, here' : lastUsedAt === null ? 'never' : formatAge(lastUsedAt, nowMs),
    },
  ]
  terminal.print(renderTable(columns, logins, terminal))
}
