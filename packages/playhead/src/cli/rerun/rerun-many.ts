import { countOf, formatCount, shortSessionId, type Lane, type Session } from '@playhead/model'
import { ConfigError } from '../../rerun/config-file.ts'
import { UnknownAgentError, type LoadedConfig } from '../../rerun/load-config.ts'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import type { OptionSpecs, OptionValues } from '../arguments/command.ts'
import { checkChoice, parseCount } from '../arguments/option-values.ts'
import { Api } from '../client/api.ts'
import type { Settings } from '../client/settings.ts'
import { CliError, throwNoResult, UsageError } from '../terminal/cli-error.ts'
import { plainLine, printableJson } from '../terminal/printable-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { liveOptions, readLane, readLiveOptions, type LiveSettings } from './live-options.ts'
import { renderRuns } from './rerun-table.ts'
import { renderRerun } from './rerun-text.ts'
import { exitCodeOfAll, runMany } from './run-many.ts'
import { prepareRun } from './run-spec.ts'
import { findPassing, findSessions } from './select-sessions.ts'

/** Options of `rerun` beyond one run from the tape. */
export const manyOptions = {
  live: {
    type: 'list',
    value: 'sides',
    summary: 'What is not answered from the recording: model, tools, or model,tools',
  },
  model: { type: 'text', value: 'name', summary: 'The model that answers, with --live model' },
  'on-miss': {
    type: 'text',
    value: 'what',
    summary:
      'What follows a call that was not recorded: fail (default), or live, which goes on without the recording',
  },
  where: {
    type: 'text',
    value: 'filter',
    summary: 'Instead of <session>: the sessions that match, as in ls: "status:fail tag:support since:7d"',
  },
  last: { type: 'text', value: 'n', summary: 'The newest n sessions that match (default 20)' },
  ...liveOptions,
} as const satisfies OptionSpecs

type ManyValues = OptionValues<typeof manyOptions>

const DEFAULT_LAST = 20

/** True if the command is one run that is answered from the tape alone. */
export function isOneTapedRun(options: ManyValues, typed: readonly string[]): boolean {
  const names = Object.keys(manyOptions) as (keyof typeof manyOptions)[]
  return typed.length === 1 && names.every((name) => options[name] === undefined)
}

type Request = {
  options: ManyValues & { config?: string; force?: boolean; json?: boolean; out?: string }
  typed: readonly string[]
  settings: Settings
  terminal: Terminal
}

/** Runs sessions again, live or several at once, and returns the exit code. */
export async function rerunMany({ options, typed, settings, terminal }: Request): Promise<number> {
  const how = readHow(options, typed)
  const specs = await prepareAll({ options, typed, settings, terminal }, how)
  const runs = specs.flatMap((spec) => Array.from({ length: how.times }, () => spec))
  terminal.note(
    terminal.paint('dim', `Running ${countOf(specs.length, 'session')} again: ${describeHow(how)}`),
  )
  const baselines = how.lane === 'tape' ? [] : await runBaselines(specs, how, terminal)
  const lines = await runMany(runs, {
    ...how,
    terminal,
    onLine: (line) => {
      if (options.json === true) terminal.print(printableJson(line))
    },
  })
  if (options.json !== true) {
    const text =
      lines.length === 1
        ? renderRerun(lines[0]!, { ...runs[0]!, endpoint: runs[0]!.endpoint, paint: terminal.paint })
        : renderTable(lines, { runs, terminal, how })
    terminal.print([text, ...describeBaselines(baselines)].join('\n'))
  }
  return exitCodeOfAll(lines)
}

type How = LiveSettings & {
  lane: Lane
  model: string | undefined
  onMiss: 'fail' | 'live'
  last: number
}

function readHow(options: ManyValues, typed: readonly string[]): How {
  const lane = readLane(options.live)
  const { model, where, last, 'on-miss': onMiss = 'fail' } = options
  checkChoice('on-miss', onMiss, ['fail', 'live'])
  const live = readLiveOptions(options)
  const isSelected = where !== undefined || last !== undefined
  if (isSelected && typed.length > 0)
    throw new UsageError('Use either <session> or --where and --last, not both.')
  if (!isSelected && typed.length === 0)
    throw new UsageError('Name a session, or select some: --where "status:fail" --last 20')
  if (model !== undefined && lane !== 'live-model' && lane !== 'live')
    throw new UsageError('--model needs a live model: add --live model.')
  if (live.times > 1 && lane === 'tape')
    throw new UsageError('Every run from the same recording is the same. To repeat it, add --live model.')
  return {
    ...live,
    lane,
    model,
    onMiss: onMiss === 'live' ? 'live' : 'fail',
    last: last === undefined ? DEFAULT_LAST : parseCount('--last', last),
  }
}

function describeHow({ lane, model, times, budget }: How): string {
  const sides = {
    tape: 'model and tools from the recording',
    'live-model': 'live model, tools from the recording',
    'live-tools': 'live tools, model from the recording',
    live: 'live model and tools',
    fork: '',
  }
  return [
    sides[lane],
    ...(model === undefined ? [] : [plainLine(model)]),
    ...(times > 1 ? [`${formatCount(times)} times`] : []),
    ...(budget === undefined ? [] : [`at most $${budget.limitUsd}`]),
  ].join(', ')
}

async function prepareAll({ options, typed, settings, terminal }: Request, how: How): Promise<RunSpec[]> {
  const api = await Api.connect(settings, 'read')
  const found = typed.length > 0 ? [] : await findSessions(api, options.where ?? '', how.last)
  const sources = typed.length > 0 ? typed : found.map(({ id }) => id)
  if (sources.length === 0) return throwNoResult(new CliError('No session matches. To see them: playhead ls'))
  const specs: RunSpec[] = []
  const skipped: Skipped[] = []
  let config: LoadedConfig | undefined
  for (const source of sources) {
    try {
      const prepared = await prepareRun({
        typed: source,
        configFile: options.config,
        folder: options.out,
        config,
        isOffline: isStrict(how),
        // What is live needs no recording; the run says if it comes to something that is missing.
        isForced: options.force === true || how.lane !== 'tape',
        terminal,
        settings,
      })
      config = prepared.config
      const { config: _config, recorded: _recorded, ...parts } = prepared
      const spec: RunSpec = { ...parts, ...specOf(how), tapes: [] }
      specs.push({ ...spec, tapes: await tapesOf(spec, how, api) })
    } catch (error) {
      if (!(error instanceof ConfigError) || sources.length === 1) throw error
      skipped.push({ source, error })
    }
  }
  for (const line of describeSkipped(skipped)) terminal.note(line)
  if (specs.length === 0)
    return throwNoResult(new CliError(`None of ${countOf(sources.length, 'session')} can be run again.`))
  return specs
}

type Skipped = { source: string; error: ConfigError }

/** Sessions of agents that the config does not have are counted; any other reason is said for each. */
function describeSkipped(skipped: readonly Skipped[]): string[] {
  const strangers = skipped.flatMap(({ error }) => (error instanceof UnknownAgentError ? [error.agent] : []))
  const counts = [...Map.groupBy(strangers, (name) => name)].map(
    ([name, { length }]) => `${plainLine(name)} (${formatCount(length)})`,
  )
  const others = skipped.filter(({ error }) => !(error instanceof UnknownAgentError))
  return [
    ...(counts.length === 0
      ? []
      : [
          `Skipped ${countOf(strangers.length, 'session')} of agents that the config does not have: ${counts.join(', ')}`,
        ]),
    ...others.map(
      ({ source, error }) =>
        `Skipped ${shortSessionId(source)}: ${error.message.split('\n').map(plainLine).join(' ')}`,
    ),
  ]
}

function specOf({
  lane,
  model,
  onMiss,
  allowWrites,
}: How): Pick<RunSpec, 'lane' | 'model' | 'onMiss' | 'allowWrites'> {
  return { lane, onMiss, allowWrites, ...(model !== undefined && { model }) }
}

async function tapesOf(spec: RunSpec, how: How, api: Api): Promise<Session[]> {
  return spec.endpoint === undefined || isStrict(how) ? [] : findPassing(api, spec)
}

function isStrict({ lane, onMiss }: How): boolean {
  return lane === 'tape' && onMiss === 'fail'
}

/** The same runs with nothing live, which are not recorded: what differs in them is not the model's or the tools' doing. */
async function runBaselines(specs: readonly RunSpec[], how: How, terminal: Terminal): Promise<RerunLine[]> {
  const taped = specs.map(({ endpoint: _endpoint, dir: _dir, model: _model, ...spec }): RunSpec => ({
    ...spec,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
  }))
  return runMany(taped, { concurrency: how.concurrency, budget: undefined, terminal })
}

function describeBaselines(baselines: readonly RerunLine[]): string[] {
  const changed = baselines.filter(({ verdict }) => verdict !== 'same')
  const [first] = changed
  if (first === undefined) return []
  const sentence = first.misses[0]?.sentence ?? first.divergence?.sentence ?? first.reason ?? ''
  const which =
    baselines.length === 1
      ? 'The session already differs'
      : `${changed.length} of ${countOf(baselines.length, 'session')} already differ`
  return [
    '',
    `${which} from the recording with nothing live, so not every difference is the model's or the tools' doing. ${plainLine(sentence)}`,
  ]
}

function renderTable(
  lines: readonly RerunLine[],
  { runs, terminal, how }: { runs: readonly RunSpec[]; terminal: Terminal; how: How },
): string {
  const rows = lines.map((line, index) => {
    const { inputPreview, name } = runs[index]!.parent.session
    return { line, label: inputPreview ?? name }
  })
  const { endpoint } = runs[0]!
  const table = renderRuns(rows, { terminal, budget: how.budget, title: 'INPUT' })
  const compared = lines.find(({ session }) => session !== null)
  if (endpoint === undefined || compared === undefined) return table
  return `${table}\nCompare the first: ${endpoint}/compare?a=${compared.parent}&b=${compared.session}`
}
