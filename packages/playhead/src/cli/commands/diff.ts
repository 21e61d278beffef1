import {
  alignSessions,
  describeFirstDivergence,
  renderComparison,
  type Alignment,
  type Session,
} from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { readSession } from '../client/read-session.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { QuietExit, throwNoResult, UsageError } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const diffCommand = defineCommand({
  name: 'diff',
  arguments: ['a', 'b'],
  summary: 'Compare two sessions step by step and show where they diverge',
  details: `<a> and <b> are what "playhead show" accepts: an id or its first digits, "last", "last-failed", or a recording (*.json).
Ids, times and the order of concurrent steps are ignored.
Exit codes: 0 both sessions had the same effects, 1 their effects differ, 2 they can't be compared.`,
  options: {
    json: {
      type: 'flag',
      summary: 'Print JSON: { "divergence": …, "effects": […], "rows": […] }',
    },
  },
  examples: [
    ['playhead diff s_1a2b3c4d last-failed', 'What the last failure did differently'],
    ['playhead diff passing.json failing.json', 'Compare two recordings without a server'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [a = '', b = ''] = positionals
    const settings = readSettings(globals, terminal.environment)
    const sessions = await readBoth([a, b], { terminal, settings })
    const alignment = alignSessions(...sessions)
    if (options.json === true) terminal.print(printableJson(toJson(alignment, sessions), 2))
    else terminal.print(renderText(alignment, sessions, terminal))
    if (alignment.effects.length > 0) throw new QuietExit(1)
  },
})

function renderText(alignment: Alignment, sessions: Both, { isColoured: color, width }: Terminal): string {
  return renderComparison(alignment, sessions, { color, width }).trimEnd()
}

type Both = [a: Session, b: Session]

async function readBoth(
  sources: [a: string, b: string],
  context: { terminal: Terminal; settings: Settings },
): Promise<Both> {
  if (sources[0] === '-' && sources[1] === '-')
    throw new UsageError('Only one of the two sessions can be read from stdin.')
  const view = { errorsOnly: false, isJson: true }
  try {
    return [await readSession(sources[0], view, context), await readSession(sources[1], view, context)]
  } catch (error) {
    return throwNoResult(error)
  }
}

function toJson(alignment: Alignment, [a, b]: Both): object {
  return {
    a: { id: a.session.id, endState: a.session.endState },
    b: { id: b.session.id, endState: b.session.endState },
    divergence:
      alignment.divergence === null
        ? null
        : { ...alignment.divergence, says: describeFirstDivergence(alignment) },
    effects: alignment.effects.map(({ kind, a, b, differences }) => ({
      kind,
      name: (b ?? a)?.name,
      a: a?.id,
      b: b?.id,
      differences,
    })),
    rows: alignment.rows.map(({ a, b, ...row }) => ({
      name: (b ?? a)?.name,
      ...(a !== undefined && { a: a.id }),
      ...(b !== undefined && { b: b.id }),
      ...row,
    })),
  }
}
