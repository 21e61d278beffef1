import { countOf, shortSessionId, type SessionSummary } from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { Api } from '../client/api.ts'
import { findSessionId } from '../client/sessions.ts'
import { readSettings } from '../client/settings.ts'
import { UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'

export const tagCommand = defineCommand({
  name: 'tag',
  arguments: ['sessions…'],
  summary: 'Add tags to sessions, or remove them',
  details: `<sessions…> are ids or their first digits, "last" or "last-failed". The tags stay as you set them, also if
spans of the session arrive again or are derived again.`,
  options: {
    add: { type: 'list', value: 'tag', summary: 'Tag to add (repeatable)' },
    remove: { type: 'list', value: 'tag', summary: 'Tag to remove (repeatable)' },
    json: { type: 'flag', summary: 'Print JSON: { "sessions": [{ "id": …, "tags": […] }] }' },
  },
  examples: [
    ['playhead tag last --add reviewed', 'Tag the newest session'],
    ['playhead tag s_1a2b3c4d s_5e6f7a8b --add bug --remove triage', 'Change the tags of two sessions'],
    ['playhead ls --tag bug', 'List the sessions with a tag'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const { add = [], remove = [] } = options
    if (positionals.length === 0) throw new UsageError('Pass the id of a session. See playhead tag --help')
    if (add.length + remove.length === 0)
      throw new UsageError('Pass --add or --remove with a tag. See playhead tag --help')
    const api = await Api.connect(readSettings(globals, terminal.environment), 'admin')
    const sessions: Pick<SessionSummary, 'id' | 'tags'>[] = []
    for (const name of positionals) {
      const path = `/api/sessions/${await findSessionId(api, name)}`
      const body = { tags: { add, remove } }
      const { id, tags } = await api.json<SessionSummary>(path, { method: 'PATCH', body })
      sessions.push({ id, tags })
      if (options.json !== true)
        terminal.print(`${shortSessionId(id)}\t${tags.map(plainLine).join(', ') || '(no tags)'}`)
    }
    if (options.json === true) terminal.print(printableJson({ sessions }, 2))
    else terminal.note(`Changed the tags of ${countOf(sessions.length, 'session')}.`)
  },
})
