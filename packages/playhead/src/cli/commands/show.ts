import {
  countOf,
  renderTextReplay,
  type Session,
  diagnoseSession,
  namedSuspects,
  type Findings,
} from '@playhead/model'
import { defineCommand } from '../arguments/command.ts'
import { parseCount } from '../arguments/option-values.ts'
import { isRecordingFile, readSession, shownSteps, type ShownPart } from '../client/read-session.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { followSession } from './follow.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import { printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { Api } from '../client/api.ts'

export const showCommand = defineCommand({
  name: 'show',
  arguments: ['session'],
  summary: 'Show the replay of a session as text',
  details: `<session> is an id or its first digits (with or without s_), "last", "last-failed", a recording (*.json),
or "-" to read a recording from stdin.`,
  options: {
    step: { type: 'text', value: 'n', summary: 'Show only this step, in full; n is the number after its #' },
    'errors-only': { type: 'flag', summary: 'Show only failed steps' },
    follow: {
      type: 'flag',
      summary:
        'Print steps as they end, until the session ends; "last" waits for the next session if none runs',
    },
    json: {
      type: 'flag',
      summary: 'Print JSON: { "session": …, "steps": […] }, or one step with --step',
    },
  },
  examples: [
    ['playhead show last-failed', 'What went wrong, step by step'],
    ['playhead show s_1a2b3c4d --errors-only', 'Only the steps that failed'],
    ['playhead show last --follow', 'Watch the session that runs, or the next one'],
    ['playhead show s_1a2b3c4d --step 3', 'One step with its full input and output'],
    ['playhead show .playhead/session.json', 'A recording, without a server'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [source = ''] = positionals
    const settings = readSettings(globals, terminal.environment)
    if (options.follow === true) {
      if (options.step !== undefined || options.json === true || source === '-' || isRecordingFile(source))
        throw new UsageError(
          '--follow prints the steps of a session on a server: leave out --step and --json, and name a session.',
        )
      return followSession(source, { terminal, settings, errorsOnly: options['errors-only'] === true })
    }
    const view: ShownPart = {
      ...(options.step !== undefined && { step: parseCount('--step', options.step) }),
      errorsOnly: options['errors-only'] === true,
      isJson: options.json === true,
    }
    const session = await readSession(source, view, { terminal, settings })
    if (view.step !== undefined && view.step > session.steps.length)
      throw new CliError(
        `There is no step ${view.step}: the session has ${countOf(session.steps.length, 'step')}.`,
      )
    if (view.isJson) return printJson(session, view, terminal)
    const suspects = view.step === undefined ? await readSuspects(session, source, settings) : []
    terminal.print(renderText(session, { ...view, suspects }, terminal).trimEnd())
  },
})

function renderText(
  session: Session,
  { step, errorsOnly, suspects }: ShownPart & { suspects: string[] },
  { isColoured, width }: Terminal,
): string {
  return renderTextReplay(session, {
    color: isColoured,
    width,
    errorsOnly,
    suspects,
    ...(step !== undefined && { step }),
  })
}

/** Prints one step per line, so that a long session is never held in one string. */
function printJson({ session, steps }: Session, view: ShownPart, terminal: Terminal): void {
  const shown = shownSteps(steps, view)
  if (view.step !== undefined) return terminal.print(printableJson(shown[0], 2))
  terminal.print(`{"session":${printableJson(session)},`)
  terminal.print('"steps":[')
  for (const [index, step] of shown.entries())
    terminal.print(printableJson(step) + (index < shown.length - 1 ? ',' : ''))
  terminal.print(']}')
}

/** What went wrong in a session, in sentences. The server knows more than the session: others of the same name. */
async function readSuspects(session: Session, source: string, settings: Settings): Promise<string[]> {
  const { id, endState } = session.session
  if (endState === 'running') return []
  const isLocal = source === '-' || isRecordingFile(source)
  const found = isLocal ? undefined : await fetchFindings(id, settings)
  return namedSuspects(found ?? diagnoseSession(session)).map(({ sentence }) => sentence)
}

/** Undefined for servers that do not have findings. */
async function fetchFindings(id: string, settings: Settings): Promise<Findings | undefined> {
  try {
    const api = await Api.connect(settings, 'read')
    return await api.json<Findings>(`/api/sessions/${id}/findings`)
  } catch {
    return undefined
  }
}
