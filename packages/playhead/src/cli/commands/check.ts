import { appendFile } from 'node:fs/promises'
import { asksForReruns, formatCount, parseDuration, type SessionSummary } from '@playhead/model'
import { readBuildContext } from '../../testing/runs/build-context.ts'
import { defineCommand, type OptionValues } from '../arguments/command.ts'
import { checkChoice, parseCount } from '../arguments/option-values.ts'
import { Api, type Query } from '../client/api.ts'
import { readSessionPages } from '../client/sessions.ts'
import { readSettings, type Settings } from '../client/settings.ts'
import { QuietExit, throwNoResult, UsageError } from '../terminal/cli-error.ts'
import type { Environment } from '../terminal/terminal.ts'
import { compareWithBaseline } from './check-baseline.ts'
import { checkFormats, renderCheck, renderMarkdown } from './check-formats.ts'
import { checkLimits, judgeRows, type CheckLimits, type CheckResult } from './check-limits.ts'
import { filterOptions, toFilterQuery } from './session-filter.ts'

/** Filtering by what is being checked would skew the result. */
const { status: _, cost: __, duration: ___, demo: ____, score: _____, ...filters } = filterOptions

const options = {
  'max-failure-rate': {
    type: 'text',
    value: 'share',
    summary: 'Highest share of sessions that may fail: 0.05 or 5%',
  },
  'max-cost-per-session': { type: 'text', value: 'usd', summary: 'Highest mean cost in US dollars: 0.01' },
  'max-p95': { type: 'text', value: 'duration', summary: 'Highest 95th percentile of the duration: 8s' },
  'min-score': {
    type: 'list',
    value: 'name:mean',
    summary: 'Lowest mean of a score, where yes is 1: helpful:0.8 (repeat for others)',
  },
  'min-sessions': {
    type: 'text',
    value: 'n',
    summary: 'Sessions needed for a verdict; exits with 3 below that (default 1)',
  },
  baseline: {
    type: 'text',
    value: 'branch',
    summary: 'Fail if pass rate, cost or duration is significantly worse than on this branch',
  },
  format: { type: 'text', value: 'format', summary: `${checkFormats.join(', ')} (default text)` },
  ...filters,
} as const

/** Older sessions would barely change the result. */
const MAX_SESSIONS = 10_000

export const checkCommand = defineCommand({
  name: 'check',
  summary: 'Fail a build if recent sessions are not good enough',
  details: `Checks the last ${formatCount(MAX_SESSIONS)} matching sessions that are not running any more. Demo sessions are excluded,
and so are sessions of tests, unless you ask for them with --test, --branch, --baseline or --tag test, and re-runs,
unless you ask for them with --reruns include, --lane or --parent.
Exit codes: 0 all conditions hold, 1 a condition is broken, 2 no result (server unreachable, invalid
arguments), 3 not enough sessions.`,
  options,
  examples: [
    ['playhead check --max-failure-rate 0.05 --since 24h', 'Fail if more than one in twenty failed'],
    ['playhead check --max-cost-per-session 0.01 --max-p95 8s --tag support', 'Limit cost and duration'],
    ['playhead check --min-score helpful:0.8 --since 7d', 'Fail if the mean of a score is too low'],
    ['playhead check --baseline main --branch "$BRANCH" --format github', 'Compare a pull request with main'],
  ],
  async run({ options: given, globals, terminal }) {
    const { environment } = terminal
    const format = given.format ?? 'text'
    checkChoice('format', format, checkFormats)
    const limits = readLimits(given)
    if (Object.keys(limits).length === 0 && given.baseline === undefined)
      throw new UsageError(
        'Nothing to check. Pass --max-failure-rate, --max-cost-per-session, --max-p95, --min-score or --baseline.',
      )
    const settings = readSettings(globals, environment)
    const result = await runCheck(given, limits, { settings, environment }).catch(throwNoResult)
    const rendered = renderCheck(result, format, terminal.paint)
    if (format === 'github') terminal.printCommands(rendered)
    else terminal.print(rendered)
    const summary = environment.GITHUB_STEP_SUMMARY
    if (format === 'github' && summary) await appendFile(summary, renderMarkdown(result))
    if (result.verdict === 'fail') throw new QuietExit(1)
    if (result.verdict === 'too-few') throw new QuietExit(3)
  },
})

type Given = OptionValues<typeof options>

async function runCheck(
  given: Given,
  limits: CheckLimits,
  { settings, environment }: { settings: Settings; environment: Environment },
): Promise<CheckResult> {
  const { baseline } = given
  const query = toFilterQuery(given)
  const branch =
    given.branch ?? (baseline === undefined ? undefined : readBuildContext(environment, process.cwd()).branch)
  if (baseline !== undefined && branch === undefined)
    throw new UsageError('The current branch is unknown. Pass it with --branch.')
  const minimum =
    given['min-sessions'] === undefined ? 1 : parseCount('--min-sessions', given['min-sessions'])
  const api = await Api.connect(settings, 'read')
  const test = given.test ?? given['test-file'] ?? given['run-id'] ?? given.variant
  const isOfTests = test !== undefined || branch !== undefined || given.tag?.includes('test') === true
  const [sessions, before] = await Promise.all([
    readEndedSessions(api, { ...query, branch }, isOfTests),
    baseline === undefined ? undefined : readEndedSessions(api, { ...query, branch: baseline }, isOfTests),
  ])
  const rows = [
    ...checkLimits(sessions, limits, minimum),
    ...(before === undefined || baseline === undefined
      ? []
      : compareWithBaseline(sessions, before, { baseline, minimum })),
  ]
  return { rows, sessions, verdict: judgeRows(rows) }
}

/** The tests of a build should not be judged once more by its check, so their sessions have to be asked for. */
async function readEndedSessions(api: Api, query: Query, isOfTests: boolean): Promise<SessionSummary[]> {
  const ended: SessionSummary[] = []
  const counted = { ...query, demo: 'false', reruns: asksForReruns(query) ? 'include' : 'exclude' }
  for await (const { sessions } of readSessionPages(api, counted, MAX_SESSIONS))
    ended.push(
      ...sessions.filter(({ endState, test }) => endState !== 'running' && (isOfTests || test === undefined)),
    )
  return ended
}

function readLimits(given: Given): CheckLimits {
  const rate = given['max-failure-rate']
  const usd = given['max-cost-per-session']
  const p95 = given['max-p95']
  const scores = given['min-score']
  return {
    ...(rate !== undefined && { failureRate: readShare(rate) }),
    ...(usd !== undefined && { usd: readNumber('--max-cost-per-session', usd.replace(/^\$/, '')) }),
    ...(p95 !== undefined && { p95Ms: readDuration(p95) }),
    ...(scores !== undefined && { scores: scores.map(readScore) }),
  }
}

function readScore(text: string): { name: string; mean: number } {
  const [, name, mean] = /^(.+):(-?\d*\.?\d+)$/.exec(text.trim()) ?? []
  if (name === undefined)
    throw new UsageError(`--min-score must be a name and a number like helpful:0.8, not "${text}".`)
  return { name: name.trim(), mean: Number(mean) }
}

function readShare(text: string): number {
  const share = text.endsWith('%')
    ? readNumber('--max-failure-rate', text.slice(0, -1)) / 100
    : readNumber('--max-failure-rate', text)
  if (share > 1)
    throw new UsageError(
      `--max-failure-rate can't be "${text}". Use a number from 0 to 1, or a percentage: 5%`,
    )
  return share
}

function readNumber(option: string, text: string): number {
  if (!/^\d*\.?\d+$/.test(text)) throw new UsageError(`${option} must be a number like 0.05, not "${text}".`)
  return Number(text)
}

function readDuration(text: string): number {
  const duration = parseDuration(text)
  if (duration === undefined)
    throw new UsageError(`--max-p95 must be a duration like 8s, 500ms or 2m, not "${text}".`)
  return duration
}
