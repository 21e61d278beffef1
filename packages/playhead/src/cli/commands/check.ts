import { appendFile } from 'node:fs/promises'
import { durationRange } from '@playhead/model'
import { readCodeOrigin } from '../../testing/runs/build-context.ts'
import { Api } from '../client/api.ts'
import { compareWithBaseline } from './check-baseline.ts'
import { checkFormats, renderCheck, renderMarkdown } from './check-formats.ts'
import { checkLimits, judgeRows, type CheckLimits, type CheckResult } from './check-limits.ts'
import { readChecked } from '../client/sessions.ts'
import { checkWord } from '../arguments/option-values.ts'
import { CliError, QuietExit, UsageError } from '../terminal/cli-error.ts'
import { defineCommand, type OptionValues } from '../arguments/command.ts'
import { readCount } from '../arguments/option-values.ts'
import { filterOptions, toFilterQuery } from './session-filter.ts'
import { readSettings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What the check looks at is not what it may choose by. */
const { status: _, cost: __, duration: ___, ...filters } = filterOptions

const options = {
  'max-failure-rate': {
    type: 'text',
    value: 'share',
    summary: 'failed of all that ended, at most: 0.05 or 5%',
  },
  'max-cost-per-session': { type: 'text', value: 'usd', summary: 'US dollars on average, at most: 0.01' },
  'max-p95': { type: 'text', value: 'duration', summary: '95 of 100 sessions take at most so long: 8s' },
  'min-sessions': { type: 'text', value: 'n', summary: 'fewer are too few to say anything (default 1)' },
  baseline: {
    type: 'text',
    value: 'branch',
    summary: 'no worse than the sessions of this branch: pass rate, cost and duration',
  },
  format: { type: 'text', value: 'format', summary: `${checkFormats.join(', ')} (default text)` },
  ...filters,
} as const

export const checkCommand = defineCommand({
  name: 'check',
  summary: 'fails a build when recent sessions are not good enough',
  details: `Looks at the sessions that the filters choose and that have ended; demo sessions are left out.
Exit code: 0 all conditions hold, 1 one does not, 2 nobody can tell (no server, wrong arguments),
3 there are too few sessions to say.`,
  options,
  examples: [
    ['playhead check --max-failure-rate 0.05 --since 24h', 'at most one in twenty fails'],
    ['playhead check --max-cost-per-session 0.01 --max-p95 8s --tag support', 'cost and speed of one agent'],
    ['playhead check --baseline main --branch "$BRANCH" --format github', 'a pull request against main'],
  ],
  async run({ options: given, globals, terminal }) {
    const format = given.format ?? 'text'
    checkWord('format', format, checkFormats)
    const limits = readLimits(given)
    if (Object.keys(limits).length === 0 && given.baseline === undefined)
      throw new UsageError(
        'What is to be checked? Give --max-failure-rate, --max-cost-per-session, --max-p95 or --baseline.',
      )
    const result = await runCheck(given, limits, {
      settings: readSettings(globals, terminal.environment),
      environment: terminal.environment,
    }).catch(cannotTell)
    terminal.print(renderCheck(result, format, terminal.paint))
    const summary = terminal.environment.GITHUB_STEP_SUMMARY
    if (format === 'github' && summary) await appendFile(summary, renderMarkdown(result))
    if (result.verdict === 'fail') throw new QuietExit(1)
    if (result.verdict === 'too-few') throw new QuietExit(3)
  },
})

type Given = OptionValues<typeof options>

async function runCheck(
  given: Given,
  limits: CheckLimits,
  { settings, environment }: Pick<Terminal, 'environment'> & { settings: ReturnType<typeof readSettings> },
): Promise<CheckResult> {
  const query = toFilterQuery(given)
  const branch =
    given.branch ??
    (given.baseline === undefined ? undefined : readCodeOrigin(environment, process.cwd()).branch)
  if (given.baseline !== undefined && branch === undefined)
    throw new UsageError('Which branch is compared with the baseline? Give --branch.')
  const minimum = given['min-sessions'] === undefined ? 1 : readCount('--min-sessions', given['min-sessions'])
  const api = await Api.connect(settings, 'read')
  const { baseline } = given
  const [sessions, before] = await Promise.all([
    readChecked(api, { ...query, branch }),
    baseline === undefined ? undefined : readChecked(api, { ...query, branch: baseline }),
  ])
  const rows = [
    ...checkLimits(sessions, limits, minimum),
    ...(before === undefined || baseline === undefined
      ? []
      : compareWithBaseline(sessions, before, { baseline, minimum })),
  ]
  return { rows, sessions, verdict: judgeRows(rows) }
}

function readLimits(given: Given): CheckLimits {
  const rate = given['max-failure-rate']
  const usd = given['max-cost-per-session']
  const p95 = given['max-p95']
  return {
    ...(rate !== undefined && { failureRate: readShare(rate) }),
    ...(usd !== undefined && { usd: readNumber('--max-cost-per-session', usd.replace(/^\$/, '')) }),
    ...(p95 !== undefined && { p95Ms: readDuration(p95) }),
  }
}

function readShare(text: string): number {
  const share = text.endsWith('%')
    ? readNumber('--max-failure-rate', text.slice(0, -1)) / 100
    : readNumber('--max-failure-rate', text)
  if (share > 1)
    throw new UsageError(
      `--max-failure-rate is "${text}"; it is a share from 0 to 1, or with a percent sign: 5%.`,
    )
  return share
}

function readNumber(option: string, text: string): number {
  if (!/^\d*\.?\d+$/.test(text)) throw new UsageError(`${option} is "${text}"; it must be a number: 0.05`)
  return Number(text)
}

function readDuration(text: string): number {
  const max = /^\d/.test(text) ? durationRange(text)?.max : undefined
  if (max === undefined) throw new UsageError(`--max-p95 is "${text}"; it looks like 8s, 500ms or 2m.`)
  return max
}

/** For CI a server that can't be asked is no failed condition. */
function cannotTell(error: unknown): never {
  if (!(error instanceof CliError) || error.exitCode !== 1) throw error
  throw new UnknownError(error.message, { cause: error })
}

class UnknownError extends CliError {
  override readonly name = 'UnknownError'
  override readonly exitCode = 2
}
