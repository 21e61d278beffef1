import { alignSessions, describeFirstDivergence, type Alignment, type Session } from '@playhead/model'
import { CliError, QuietExit, UsageError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { renderDiff } from './diff-text.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readSession } from '../client/read-session.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What was compared can't be: not the answer "they differ", which is 1. */
class DiffError extends CliError {
  override readonly name = 'DiffError'
  override readonly exitCode = 2
}

export const diffCommand = defineCommand({
  name: 'diff',
  arguments: ['a', 'b'],
  summary: 'two sessions step by step, and where they first part',
  details: `<a> and <b> are what "playhead show" takes: an id or its first digits, "last", "last-failed", or a recording (*.json).
Exit code 0: both had the same effects on the world; 1: one wrote what the other did not; 2: they can't be compared.
Ids, times and the order of what ran at the same time don't count.`,
  options: {
    json: {
      type: 'flag',
      summary: 'for a program: { "divergence": …, "effects": […], "rows": […] }',
    },
  },
  examples: [
    ['playhead diff s_1a2b3c4d last-failed', 'what the last failure did otherwise'],
    ['playhead diff passing.json failing.json', 'two recordings, without a server'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [a = '', b = ''] = positionals
    const settings = readSettings(globals, terminal.environment)
    const sessions = await readBoth([a, b], { terminal, settings })
    const alignment = alignSessions(...sessions)
    if (options.json === true) terminal.print(printableJson(toJson(alignment, sessions), 2))
    else terminal.stdout.write(renderDiff(alignment, sessions, terminal))
    if (alignment.effects.length > 0) throw new QuietExit(1)
  },
})

type Both = [a: Session, b: Session]

async function readBoth(
  sources: [a: string, b: string],
  context: { terminal: Terminal; settings: Settings },
): Promise<Both> {
  if (sources[0] === '-' && sources[1] === '-') throw new UsageError('Only one of the two can be piped in.')
  const view = { errorsOnly: false, isJson: true }
  try {
    return [await readSession(sources[0], view, context), await readSession(sources[1], view, context)]
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== 1) throw error
    throw new DiffError(error.message, { cause: error })
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
