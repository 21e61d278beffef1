import { once } from 'node:events'
import { countOf, shortSessionId } from '@playhead/model'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import { runInChild } from '../../rerun/run-child.ts'
import { defineCommand } from '../arguments/command.ts'
import { readSettings } from '../client/settings.ts'
import { InterruptedError, QuietExit, throwNoResult } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { isOneTapedRun, manyOptions, rerunMany } from './rerun-many.ts'
import { renderRerun } from './rerun-text.ts'
import { GapsError, prepareRun } from './run-spec.ts'

export const rerunCommand = defineCommand({
  name: 'rerun',
  arguments: ['sessions…'],
  summary: 'Run a recorded session again, with its model and tools answered from the recording',
  details: `A session is an id or its first digits (with or without s_), "last", "last-failed", or a recording (*.json).
playhead.config.ts says how the agent is started; it is looked for from this folder upwards.
Nothing reaches the network: a call that was not recorded ends the run, and what differs is shown.
With --live, the model, the tools or both are real. Actions that may write are stubbed unless --allow-writes names them.
Several runs are shown as a table: how many would pass now, their cost, and where each first diverges.
Exit codes: 0 the agent did the same, 1 it did something else, 2 the session can't be run again.`,
  options: {
    config: {
      type: 'text',
      value: 'file',
      summary: 'The config, if it is not playhead.config.ts in this folder or above',
    },
    ...manyOptions,
    force: { type: 'flag', summary: 'Run it even if parts of the session were not recorded' },
    out: {
      type: 'text',
      value: 'folder',
      summary: 'Also write the re-run to a file in this folder (of a recording: .playhead)',
    },
    json: {
      type: 'flag',
      summary: 'Print JSON, one line a run: { "parent": …, "session": …, "verdict": …, "misses": […], … }',
    },
  },
  examples: [
    ['playhead rerun last-failed', 'Does my code still take the same way?'],
    ['playhead rerun s_1a2b3c4d --json', 'The result as one line of JSON'],
    ['playhead rerun .playhead/session.jsonl', 'A recording, without a server'],
    ['playhead rerun last-failed --live model --times 5', 'Does the new prompt do better?'],
    [
      `playhead rerun --where 'status:fail since:7d' --last 20 --live model --model gpt-5 --budget 1usd`,
      'How many of these failures would another model pass?',
    ],
  ],
  async run({ options, globals, positionals, terminal }) {
    const [typed = ''] = positionals
    const settings = readSettings(globals, terminal.environment)
    if (!isOneTapedRun(options, positionals)) {
      const code = await rerunMany({ options, typed: positionals, settings, terminal }).catch(throwNoResult)
      if (code !== 0) throw new QuietExit(code)
      return
    }
    const {
      config: _config,
      recorded: _recorded,
      ...prepared
    } = await prepareRun({
      typed,
      configFile: options.config,
      folder: options.out,
      isOffline: true,
      isForced: options.force === true,
      terminal,
      settings,
    }).catch((error: unknown) => {
      if (options.json === true && error instanceof GapsError) terminal.print(printableJson(error.line))
      return throwNoResult(error)
    })
    const spec: RunSpec = { ...prepared, tapes: [], lane: 'tape', onMiss: 'fail', allowWrites: [] }
    const line = await runOnce(spec, terminal)
    if (options.json === true) terminal.print(printableJson(line))
    else
      terminal.print(
        renderRerun(line, { parent: spec.parent, endpoint: spec.endpoint, paint: terminal.paint }),
      )
    const code = exitCodeOf(line)
    if (code !== 0) throw new QuietExit(code)
  },
})

/** Runs it, shows what the agent prints, and ends everything on Ctrl-C. */
export async function runOnce(spec: RunSpec, terminal: Terminal): Promise<RerunLine> {
  const { parent, agent } = spec
  terminal.note(
    terminal.paint(
      'dim',
      `Running ${plainLine(agent)} again from ${shortSessionId(parent.session.id)}: ${countOf(parent.steps.length, 'step')}`,
    ),
  )
  const stop = new AbortController()
  const done = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'])
    void once(process, name, { signal: done.signal }).then(
      () => stop.abort(new InterruptedError()),
      () => undefined,
    )
  try {
    return await runInChild(spec, {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'output') terminal.note(terminal.paint('dim', event.text.trimEnd()))
      },
    })
  } finally {
    done.abort()
  }
}

/** 0 the same, 1 something else, 2 no result. */
export function exitCodeOf({ session, verdict }: RerunLine): number {
  if (session === null) return 2
  return verdict === 'same' ? 0 : 1
}
