import { renderTextReplay, type Session, countOf } from '@playhead/model'
import { CliError } from '../terminal/cli-error.ts'
import { defineCommand } from '../arguments/command.ts'
import { printableJson } from '../terminal/printable-text.ts'
import { readCount } from '../arguments/option-values.ts'
import { readSession, shownSteps, type SessionView } from '../client/read-session.ts'
import { readSettings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const showCommand = defineCommand({
  name: 'show',
  arguments: ['session'],
  summary: 'the replay of a session as text',
  details: `<session> is an id or its first digits (with or without s_), "last", "last-failed", a recording (*.json),
or "-" for a recording that is piped in.`,
  options: {
    step: { type: 'text', value: 'n', summary: 'this step alone, in full; the first is 1' },
    'errors-only': { type: 'flag', summary: 'failed steps only' },
    json: {
      type: 'flag',
      summary: 'as the API answers: { "session": …, "steps": […] }; with --step, that step',
    },
  },
  examples: [
    ['playhead show last-failed', 'what went wrong, step by step'],
    ['playhead show s_1a2b3c4d --errors-only', 'only the steps that failed'],
    ['playhead show s_1a2b3c4d --step 3', 'one step with its whole input and output'],
    ['playhead show .playhead/session.json', 'a recording, without a server'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [source = ''] = positionals
    const settings = readSettings(globals, terminal.environment)
    const view: SessionView = {
      ...(options.step !== undefined && { step: readCount('--step', options.step) }),
      errorsOnly: options['errors-only'] === true,
      isJson: options.json === true,
    }
    const session = await readSession(source, view, { terminal, settings })
    if (view.step !== undefined && view.step > session.steps.length)
      throw new CliError(
        `There is no step ${view.step}: the session has ${countOf(session.steps.length, 'step')}.`,
      )
    if (view.isJson) printJson(session, view, terminal)
    else terminal.stdout.write(renderText(session, view, terminal))
  },
})

function renderText(
  session: Session,
  { step, errorsOnly }: SessionView,
  { isColoured, width }: Terminal,
): string {
  return renderTextReplay(session, {
    color: isColoured,
    width,
    errorsOnly,
    ...(step !== undefined && { step }),
  })
}

/** A step a line, so that a long session is never one long text. */
function printJson({ session, steps }: Session, view: SessionView, terminal: Terminal): void {
  const shown = shownSteps(steps, view)
  if (view.step !== undefined) return terminal.print(printableJson(shown[0], 2))
  terminal.print(`{"session":${printableJson(session)},`)
  terminal.print('"steps":[')
  for (const [index, step] of shown.entries())
    terminal.print(printableJson(step) + (index < shown.length - 1 ? ',' : ''))
  terminal.print(']}')
}
