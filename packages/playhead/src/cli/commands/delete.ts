import { countOf, shortSessionId } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api, type Query } from '../client/api.ts'
import { findSessionId, readSessionPages } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { filterOptions, toFilterQuery } from './session-filter.ts'

/** As many as the server deletes in one request. */
const BATCH_SIZE = 1_000

export const deleteCommand = defineCommand({
  name: 'delete',
  arguments: ['sessions…'],
  summary: 'Delete sessions with all their data, by id or by filter',
  details: `<sessions…> are ids or their first digits, "last" or "last-failed". With filters instead of ids, the sessions that
match are listed, and --yes deletes them. Deleted sessions can't be restored, except from a backup.`,
  options: {
    ...filterOptions,
    yes: { type: 'flag', short: 'y', summary: 'Delete what matches the filters' },
    json: { type: 'flag', summary: 'Print JSON: { "deleted": [ids] }' },
  },
  examples: [
    ['playhead delete s_1a2b3c4d', 'One session'],
    ['playhead delete --tag experiment --until 30d', 'How many sessions would be deleted'],
    ['playhead delete --tag experiment --until 30d --yes', 'Delete them'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const filter = toFilterQuery(options)
    const isFiltered = Object.values(filter).some((value) => value !== undefined)
    if (isFiltered && positionals.length > 0) throw new UsageError('Use either ids or filters, not both.')
    if (!isFiltered && positionals.length === 0)
      throw new UsageError('Pass the id of a session, or filters such as --tag. See playhead delete --help')
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const deleted = isFiltered
      ? await deleteMatching(api, filter, options.yes === true, terminal)
      : await deleteNamed(api, positionals)
    if (options.json === true) return terminal.print(printableJson({ deleted }, 2))
    const [only] = deleted
    if (only === undefined) terminal.note('No session matches the filters.')
    else
      terminal.note(
        `Deleted ${deleted.length === 1 ? shortSessionId(only) : countOf(deleted.length, 'session')}.`,
      )
  },
})

async function deleteNamed(api: Api, names: readonly string[]): Promise<string[]> {
  const all: string[] = []
  for (const name of names) {
    const id = await findSessionId(api, name)
    const { deleted } = await api.json<{ deleted: string }>(`/api/sessions/${id}`, { method: 'DELETE' })
    all.push(deleted)
  }
  return all
}

async function deleteMatching(
  api: Api,
  filter: Query,
  isConfirmed: boolean,
  terminal: Terminal,
): Promise<string[]> {
  const ids: string[] = []
  for await (const { sessions } of readSessionPages(api, filter, Infinity))
    ids.push(...sessions.map(({ id }) => id))
  if (!isConfirmed && ids.length > 0) {
    for (const id of ids) terminal.print(shortSessionId(id))
    throw new UsageError(
      `${countOf(ids.length, 'session')} would be deleted. To delete ${ids.length === 1 ? 'it' : 'them'}, add --yes.`,
    )
  }
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const body = { ids: ids.slice(at, at + BATCH_SIZE) }
    await api.json('/api/sessions/delete', { method: 'POST', body })
  }
  return ids
}
