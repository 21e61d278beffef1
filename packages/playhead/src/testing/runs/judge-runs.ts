import {
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
  tokens: number
  sessionId: string
  url: string
  message?: string
  stepId?: string
  /** Where it diverged from a passing run. */
  divergence?: string
}

type Judged = { result: AgentTestResult; failure: Error | undefined }

/** Judges all runs of a test together. */
export function judgeRuns<Input>(
  test: TestIdentity,
  runs: readonly FinishedRun[],
  { planned, options }: { planned: number; options: AgentTestOptions<Input> },
): Judged {
  const passed = runs.filter(({ isPassed }) => isPassed).length
  const total = runs.length
  const { min = 1, confidence = 0.95 } = options.passRate ?? {}
  const isCutShort = total < planned && typeof options.repeat !== 'object'
  const verdict = verdictOf({ passed, total }, isCutShort, options)
  const variants = triesByVariant(runs)
  const most = Math.min(...variants.map((tries) => tries.total))
  const note = isCutShort ? `The budget ran out after ${total} of ${planned} runs.` : undefined
  const ks = Array.from({ length: most }, (_, index) => index + 1)
  const result: AgentTestResult = {
    kind: 'agent-test',
    test,
    verdict,
    passed,
    total,
    planned,
    interval: wilson(passed, total, confidence),
    confidence,
    minimum: min,
    cost: costOf(runs),
    passAtK: ks.map((k) => passAtK(variants, k)),
    passHatK: ks.map((k) => passHatK(variants, k)),
    ...(note !== undefined && { note }),
  }
  const isFailed =
    verdict === 'fail' || (verdict === 'inconclusive' && !isTolerated(result, isCutShort, options))
  return { result, failure: isFailed ? toError(result, runs, options) : undefined }
}

function verdictOf<Input>(
  tries: Tries,
  isCutShort: boolean,
  { passRate, repeat }: AgentTestOptions<Input>,
): ShareVerdict {
  const failed = tries.total - tries.passed
  if (typeof repeat === 'object') return judgeSequence({ passed: tries.passed, failed }, repeat)
  if (passRate !== undefined) {
    const { min, confidence = 0.95 } = passRate
    return judgeShare(tries, { min, confidence })
  }
  if (failed > 0) return 'fail'
  return isCutShort ? 'inconclusive' : 'pass'
}

function isTolerated<Input>(
  { passed, total, minimum }: AgentTestResult,
  isCutShort: boolean,
  { inconclusive, passRate }: AgentTestOptions<Input>,
): boolean {
  if (inconclusive !== undefined) return inconclusive === 'pass'
  // Runs that were skipped prove nothing.
  return !isCutShort && passRate !== undefined && passed / total >= minimum
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
