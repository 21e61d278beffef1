import {
  countOf,
  formatCost,
  formatPercent,
  judgeSequence,
  judgeShare,
  passAtK,
  passHatK,
  wilson,
  type AgentTestResult,
  type ShareVerdict,
  type TestIdentity,
  type Tries,
} from '@playhead/model'
import { replayLink } from '../sessions/replay-link.ts'
import type { AgentTestOptions } from './agent-test.ts'

/** A finished run of a `test.agent`. */
export type FinishedRun = {
  variant: string
  attempt: number
  isPassed: boolean
  cost: number | null
  /** True if a call is missing from the cost. */
  isCostIncomplete: boolean
  tokens: number
  sessionId: string
  url: string
  message?: string
  stepId?: string
  /** Where it diverged from a passing run. */
  divergence?: string
}

type Judged = { result: AgentTestResult; failure: Error | undefined }

export type PlannedRuns<Input> = {
  planned: number
  options: AgentTestOptions<Input>
  /** True if the budget was spent, so that the rest of the runs was not made. */
  isBudgetSpent: boolean
}

/** Judges all runs of a test together. */
export function judgeRuns<Input>(
  test: TestIdentity,
  runs: readonly FinishedRun[],
  { planned, options, isBudgetSpent }: PlannedRuns<Input>,
): Judged {
  const passed = runs.filter(({ isPassed }) => isPassed).length
  const total = runs.length
  const { min = 1, confidence = 0.95 } = options.passRate ?? {}
  const isCutShort = isBudgetSpent && total < planned
  const verdict = verdictOf({ passed, total }, isCutShort, options)
  const variants = triesByVariant(runs)
  const most = Math.min(...variants.map((tries) => tries.total))
  const ks = Array.from({ length: most }, (_, index) => index + 1)
  const isFailed =
    verdict === 'fail' || (verdict === 'inconclusive' && !isTolerated({ passed, total }, isCutShort, options))
  const result: AgentTestResult = {
    kind: 'agent-test',
    test,
    verdict,
    isFailed,
    passed,
    total,
    planned,
    interval: wilson(passed, total, confidence),
    confidence,
    minimum: min,
    cost: costOf(runs),
    passAtK: ks.map((k) => passAtK(variants, k)),
    passHatK: ks.map((k) => passHatK(variants, k)),
  }
  const note = describeResult(result, runs, { isCutShort, options })
  if (note !== '') result.note = note
  return { result, failure: isFailed ? toError(result, runs, options) : undefined }
}

function verdictOf<Input>(
  tries: Tries,
  isCutShort: boolean,
  { passRate, repeat }: AgentTestOptions<Input>,
): ShareVerdict {
  const verdict = verdictOfMade(tries, { passRate, repeat })
  // A sequential test may have been certain already; otherwise the runs that were left out could have failed.
  return isCutShort && verdict === 'pass' && typeof repeat !== 'object' ? 'inconclusive' : verdict
}

function verdictOfMade<Input>(
  tries: Tries,
  { passRate, repeat }: Pick<AgentTestOptions<Input>, 'passRate' | 'repeat'>,
): ShareVerdict {
  const failed = tries.total - tries.passed
  if (typeof repeat === 'object') return judgeSequence({ passed: tries.passed, failed }, repeat)
  if (passRate !== undefined) {
    const { min, confidence = 0.95 } = passRate
    return judgeShare(tries, { min, confidence })
  }
  return failed > 0 ? 'fail' : 'pass'
}

function isTolerated<Input>(
  { passed, total }: Tries,
  isCutShort: boolean,
  { inconclusive, passRate }: AgentTestOptions<Input>,
): boolean {
  if (inconclusive !== undefined) return inconclusive === 'pass'
  // Runs that were skipped prove nothing.
  return !isCutShort && passRate !== undefined && passed / total >= passRate.min
}

/** What the figures alone don't say: that the budget ran out or could not be kept, and why an inconclusive test failed. */
function describeResult<Input>(
  { verdict, isFailed, total, planned, minimum }: AgentTestResult,
  runs: readonly FinishedRun[],
  { isCutShort, options }: { isCutShort: boolean; options: AgentTestOptions<Input> },
): string {
  const isInconclusive = verdict === 'inconclusive'
  const unknown = runs.filter(({ isCostIncomplete }) => isCostIncomplete).length
  const notes = [
    isCutShort &&
      `The budget ran out after ${total} of ${planned} runs${isInconclusive ? ', so the result is inconclusive' : ''}.`,
    options.budget?.usd !== undefined &&
      unknown > 0 &&
      `The budget in US dollars does not include all calls of ${countOf(unknown, 'run')}, because their price is unknown.`,
    isInconclusive &&
      isFailed === true &&
      !isCutShort &&
      (options.inconclusive === 'fail'
        ? "The result is inconclusive, which counts as failed here (inconclusive: 'fail')."
        : `The result is inconclusive, and fewer runs passed than the required ${formatPercent(minimum)}.`),
  ]
  return notes.filter((text) => text !== false).join(' ')
}

function triesByVariant(runs: readonly FinishedRun[]): Tries[] {
  return [...Map.groupBy(runs, ({ variant }) => variant).values()].map((ofVariant) => ({
    passed: ofVariant.filter(({ isPassed }) => isPassed).length,
    total: ofVariant.length,
  }))
}

function costOf(runs: readonly FinishedRun[]): number | null {
  const known = runs.map(({ cost }) => cost).filter((cost) => cost !== null)
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
}

function toError<Input>(
  result: AgentTestResult,
  runs: readonly FinishedRun[],
  options: AgentTestOptions<Input>,
): Error {
  const error = new Error(describeFailure(result, runs, options))
  error.name = 'AgentTestError'
  // A stack into this package would not help.
  error.stack = `${error.name}: ${error.message}`
  return error
}

const MAX_VARIANTS = 40

function describeFailure<Input>(
  result: AgentTestResult,
  runs: readonly FinishedRun[],
  options: AgentTestOptions<Input>,
): string {
  const byVariant = Map.groupBy(runs, ({ variant }) => variant)
  const failing = [...byVariant].filter(([, ofVariant]) => ofVariant.some(({ isPassed }) => !isPassed))
  const head = `Agent failed on ${failing.length}/${byVariant.size} variants:`
  const lines = failing
    .slice(0, MAX_VARIANTS)
    .map(([variant, ofVariant]) => describeVariant(variant, ofVariant))
  const more = failing.length > MAX_VARIANTS ? [`  … ${failing.length - MAX_VARIANTS} more`] : []
  const first = failing[0]?.[1].find(({ isPassed }) => !isPassed)
  const details =
    first?.message?.includes('\n') === true ? ['', `${JSON.stringify(first.variant)}:`, first.message] : []
  const parts = [
    ...(failing.length === 0 ? [] : [head, ...lines, ...more]),
    ...(options.passRate === undefined && result.note === undefined ? [] : [describeRate(result)]),
    ...(result.note === undefined ? [] : [result.note]),
    ...details,
  ]
  return parts.join('\n')
}

function describeVariant(variant: string, runs: readonly FinishedRun[]): string {
  const failed = runs.filter(({ isPassed }) => !isPassed)
  const first = failed[0]!
  const reason = (first.message ?? 'failed').split('\n', 1)[0]!.replace(/\. Expected .*$|:$/, '')
  const often = runs.length === 1 ? '' : ` (${failed.length} of ${runs.length} runs)`
  const link = replayLink({ id: first.sessionId, url: first.url }, first.stepId)
  const divergence = failed.find((run) => run.divergence !== undefined)?.divergence
  const lines = [
    `  - ${JSON.stringify(variant)}${often}: ${reason}`,
    ...(divergence === undefined ? [] : [`first divergence from a passing run: ${divergence}`]),
    ...(link === '' ? [] : [link]),
  ]
  return lines.join('\n    ')
}

/** "27 of 30 runs passed: 90% [74%–97% with 95% confidence], required 95%; inconclusive. Cost $0.03." */
function describeRate(result: AgentTestResult): string {
  const { passed, total, interval, minimum, confidence, verdict, cost } = result
  const share =
    total === 0
      ? ''
      : `: ${formatPercent(passed / total)} [${formatPercent(interval.low)}–${formatPercent(interval.high)} with ${formatPercent(confidence)} confidence]`
  const money = cost === null ? '' : ` Cost ${formatCost(cost)}.`
  return `${passed} of ${total} runs passed${share}, required ${formatPercent(minimum)}; ${verdict}.${money}`
}
