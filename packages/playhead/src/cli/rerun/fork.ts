import { existsSync, readFileSync, statSync } from 'node:fs'
import {
  countOf,
  describeValue,
  findTapeGaps,
  fisherExact,
  shortSessionId,
  stepTitle,
  whyNotEditable,
  type ForkEdit,
  type Session,
  type Step,
} from '@playhead/model'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import { defineCommand, type OptionValues } from '../arguments/command.ts'
import { parseCount } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import { readSettings } from '../client/settings.ts'
import { CliError, QuietExit, throwNoResult, UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { liveOptions, readLiveOptions } from './live-options.ts'
import { describeTries, renderRuns } from './rerun-table.ts'
import { renderRerun } from './rerun-text.ts'
import { exitCodeOfAll, runMany, triesOfLines } from './run-many.ts'
import { prepareRun } from './run-spec.ts'
import { findPassing } from './select-sessions.ts'

const forkOptions = {
  at: {
    type: 'text',
    value: 'n',
    summary: 'The step to leave the recording at; n is the number after its #',
  },
  result: {
    type: 'text',
    value: 'json',
    summary: 'What the step returns: of an action its result, of a model call its answer',
  },
  args: {
    type: 'text',
    value: 'json',
    summary: 'What the action is called with: an object by name, or a list',
  },
  system: {
    type: 'text',
    value: 'text',
    summary: 'Another system prompt, or a file that contains it; it stays for later calls',
  },
  prompt: {
    type: 'text',
    value: 'text',
    summary: 'Another last message of the user, or a file that contains it; it stays for later calls',
  },
  model: { type: 'text', value: 'name', summary: 'Another model; it stays for later calls' },
  ...liveOptions,
  times: {
    type: 'text',
    value: 'n',
    summary: 'Run it this many times with the change and as often without, and compare (default 1, without)',
  },
  config: {
    type: 'text',
    value: 'file',
    summary: 'The config, if it is not playhead.config.ts in this folder or above',
  },
  force: { type: 'flag', summary: 'Run it even if parts of the session before the step were not recorded' },
  json: { type: 'flag', summary: 'Print JSON: one line for each run' },
} as const

export const forkCommand = defineCommand({
  name: 'fork',
  arguments: ['session'],
  summary: 'Run a recorded session again up to a step, change something there, and go on live',
  details: `<session> is an id or its first digits (with or without s_), "last", "last-failed", or a recording (*.json).
Steps before --at are answered from the recording. From there on the model is asked and actions that only read run.
Actions that may write are stubbed: a stub of playhead.config.ts answers, or the nearest recorded call.
Exit codes: 0 every run did what was recorded, 1 some did something else, 2 the session can't be run again.`,
  options: forkOptions,
  examples: [
    [`playhead fork last-failed --at 5 --result '"c_42"'`, 'Would it have passed with another value?'],
    [
      `playhead fork last-failed --at 5 --result '"c_42"' --times 5`,
      'Five with the change against five without, with the odds of chance',
    ],
    ['playhead fork s_1a2b3c4d --at 2 --system prompt.txt --budget 1usd', 'Try another system prompt'],
  ],
  async run({ options, globals, positionals, terminal }) {
    const settings = readSettings(globals, terminal.environment)
    const live = readLiveOptions(options)
    const edit = readEdit(options)
    const hasEdit = Object.keys(edit).length > 0
    if (options.at === undefined) throw new UsageError('Name the step to fork at: --at 5. See playhead show.')
    const number = parseCount('--at', options.at)
    const prepared = await prepareRun({
      typed: positionals[0] ?? '',
      configFile: options.config,
      isForced: true,
      terminal,
      settings,
    }).catch(throwNoResult)
    const { config: _config, recorded, ...parts } = prepared
    const step = findStep(recorded, parts.parent, { number, edit })
    const gap = options.force === true ? undefined : findGapBefore(parts.parent, step)
    if (gap !== undefined) throwNoResult(new CliError(`${gap} With --force it runs until it needs it.`))
    const tapes =
      parts.endpoint === undefined ? [] : await findPassing(await Api.connect(settings, 'read'), parts)
    const base: RunSpec = {
      ...parts,
      tapes,
      lane: 'fork',
      onMiss: 'fail',
      allowWrites: live.allowWrites,
    }
    const arms = planArms(hasEdit, live.times)
    const title = `step ${number} ${plainLine(stepTitle(step))}`
    terminal.note(
      terminal.paint(
        'dim',
        `Forking ${shortSessionId(parts.parent.session.id)} at ${title}: ${countOf(arms.length, 'run')}`,
      ),
    )
    const lines = await runMany(
      arms.map((isEdited) => ({ ...base, fork: { stepId: step.id, ...(isEdited && { edit }) } })),
      {
        ...live,
        terminal,
        onLine: (line, index) => {
          if (options.json === true)
            terminal.print(printableJson({ ...line, arm: arms[index] === true ? 'edit' : 'control' }))
        },
      },
    )
    if (options.json !== true)
      terminal.print(renderFork(lines, { arms, edit, spec: base, terminal, budget: live.budget }))
    const code = exitCodeOfAll(lines)
    if (code !== 0) throw new QuietExit(code)
  },
})

/** With and without the change in turn, so that a budget that runs out leaves as many of both. */
export function planArms(hasEdit: boolean, times: number): boolean[] {
  if (!hasEdit || times === 1) return Array.from({ length: times }, () => hasEdit)
  return Array.from({ length: times * 2 }, (_, index) => index % 2 === 0)
}

/** Numbers count in the session as it is shown; the agent may have made only a part of it. */
function findStep(
  { steps }: Session,
  parent: Session,
  { number, edit }: { number: number; edit: ForkEdit },
): Step {
  const shown = steps[number - 1]
  if (shown === undefined)
    return throwNoResult(
      new CliError(`There is no step ${number}: the session has ${countOf(steps.length, 'step')}.`),
    )
  const step = parent.steps.find(({ id }) => id === shown.id)
  if (step === undefined) throw new UsageError(`Step ${number} is not part of what the agent did.`)
  const problem = whyNotEditable(parent, step, edit)
  if (problem !== undefined) throw new UsageError(problem)
  return step
}

/** Why the run can't come to a step. What was not recorded matters only before it. */
export function findGapBefore(parent: Session, step: Step): string | undefined {
  const positions = new Map(parent.steps.map(({ id }, index) => [id, index]))
  const end = positions.get(step.id)!
  const gap = findTapeGaps(parent).find(({ stepId }) => positions.get(stepId)! < end)
  return gap === undefined
    ? undefined
    : `The run can't come to this step, because an earlier one was not recorded whole. ${plainLine(gap.sentence)}.`
}

function readEdit(options: OptionValues<typeof forkOptions>): ForkEdit {
  const { result, args, system, prompt, model } = options
  return {
    ...(result !== undefined && { result: readResult(result) }),
    ...(args !== undefined && { args: readArguments(args) }),
    ...(system !== undefined && { system: readTextOrFile(system) }),
    ...(prompt !== undefined && { prompt: readTextOrFile(prompt) }),
    ...(model !== undefined && { model }),
  }
}

/** A bare word is text: shells take the quotes of JSON away. */
function readResult(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    if (!/^\s*[{["]/.test(text)) return text
    throw new UsageError(`--result is not JSON: ${text}`)
  }
}

function readArguments(text: string): unknown {
  try {
    const args = JSON.parse(text) as unknown
    if (typeof args === 'object' && args !== null) return args
  } catch {
    // Said below.
  }
  throw new UsageError(
    `--args must be a JSON object or list, for example '{"customer_id":"c_42"}', not ${text}`,
  )
}

const LONGEST_PATH = 1024

function readTextOrFile(text: string): string {
  const isFile = text.length <= LONGEST_PATH && existsSync(text) && statSync(text).isFile()
  return isFile ? readFileSync(text, 'utf8').trimEnd() : text
}

type Shown = {
  arms: readonly boolean[]
  edit: ForkEdit
  spec: RunSpec
  terminal: Terminal
  budget: ReturnType<typeof readLiveOptions>['budget']
}

function renderFork(lines: readonly RerunLine[], { arms, edit, spec, terminal, budget }: Shown): string {
  const { parent, endpoint } = spec
  const [only] = lines
  if (lines.length === 1)
    return renderRerun(only!, {
      parent,
      endpoint,
      paint: terminal.paint,
      ...(arms[0] === true && { change: describeEdit(edit) }),
    })
  const table = renderRuns(
    lines.map((line, index) => ({ line, label: arms[index] === true ? describeEdit(edit) : 'unchanged' })),
    { terminal, budget, title: 'CHANGE', hasControl: arms.includes(false) && arms.includes(true) },
  )
  const compared = lines.find(({ session }) => session !== null)
  return [
    table,
    ...renderEvidence(lines, arms, edit),
    ...(endpoint === undefined || compared === undefined
      ? []
      : [`Compare: ${endpoint}/compare?a=${parent.session.id}&b=${compared.session}`]),
  ].join('\n')
}

export function renderEvidence(
  lines: readonly RerunLine[],
  arms: readonly boolean[],
  edit: ForkEdit,
): string[] {
  if (arms.every((isEdited) => isEdited === arms[0])) return []
  const withEdit = triesOfLines(lines.filter((_, index) => arms[index] === true))
  const without = triesOfLines(lines.filter((_, index) => arms[index] !== true))
  if (withEdit.total === 0 || without.total === 0) return ['Too few runs have a result to compare them.']
  const p = fisherExact(withEdit, without)
  return [
    '',
    `With ${describeEdit(edit)}: ${describeTries(withEdit)} pass.`,
    `Unchanged: ${describeTries(without)} pass.`,
    `p = ${p < 0.001 ? p.toExponential(1) : p.toFixed(3)} (Fisher's exact test): how often chance alone would favour the change this much.`,
  ]
}

export function describeEdit(edit: ForkEdit): string {
  return Object.entries(edit)
    .map(([field, value]) => `${field} = ${describeValue(value, 40)}`)
    .join(', ')
}
