import {
  formatCost,
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

/** One session of an agent's test, when it is over. */
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
  /** Where it parted from a run that passed. */
  divergence?: string
}

type Judged = { entry: AgentTestResult; failure: Error | undefined }

/** What the runs come to together. */
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
  const note = isCutShort ? `The budget was spent after ${total} of ${planned} runs.` : undefined
  const ks = Array.from({ length: most }, (_, index) => index + 1)
  const entry: AgentTestResult = {
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
    verdict === 'fail' || (verdict === 'inconclusive' && !isTolerated(entry, isCutShort, options))
  return { entry, failure: isFailed ? toError(entry, runs, options) : undefined }
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
  // What was not run has shown nothing.
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
  entry: AgentTestResult,
  runs: readonly FinishedRun[],
  options: AgentTestOptions<Input>,
): Error {
  const error = new Error(describeFailure(entry, runs, options))
  error.name = 'AgentTestError'
  // Where in our code it was made helps nobody.
  error.stack = `${error.name}: ${error.message}`
  return error
}

const LINES = 40

function describeFailure<Input>(
  entry: AgentTestResult,
  runs: readonly FinishedRun[],
  options: AgentTestOptions<Input>,
): string {
  const byVariant = Map.groupBy(runs, ({ variant }) => variant)
  const failing = [...byVariant].filter(([, ofVariant]) => ofVariant.some(({ isPassed }) => !isPassed))
  const head = `Agent failed on ${failing.length}/${byVariant.size} variants:`
  const lines = failing.slice(0, LINES).map(([variant, ofVariant]) => describeVariant(variant, ofVariant))
  const more = failing.length > LINES ? [`  … ${failing.length - LINES} more`] : []
  const first = failing[0]?.[1].find(({ isPassed }) => !isPassed)
  const details =
    first?.message?.includes('\n') === true ? ['', `${JSON.stringify(first.variant)}:`, first.message] : []
  const parts = [
    ...(failing.length === 0 ? [] : [head, ...lines, ...more]),
    ...(options.passRate === undefined && entry.note === undefined ? [] : [describeRate(entry)]),
    ...(entry.note === undefined ? [] : [entry.note]),
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
  const parted = failed.find(({ divergence }) => divergence !== undefined)?.divergence
  const lines = [
    `  - ${JSON.stringify(variant)}${often}: ${reason}`,
    ...(parted === undefined ? [] : [`first divergence from a passing run: ${parted}`]),
    ...(link === '' ? [] : [link]),
  ]
  return lines.join('\n    ')
}

/** "27 of 30 passed: 90% [74–97%], wanted 95%; inconclusive. Cost $0.03." */
export function describeRate(entry: AgentTestResult): string {
  const { passed, total, interval, minimum, confidence, verdict, cost } = entry
  const percent = (share: number) => `${Math.round(share * 100)}%`
  const share =
    total === 0
      ? ''
      : `: ${percent(passed / total)} [${percent(interval.low)}–${percent(interval.high)} with ${percent(confidence)} confidence]`
  const money = cost === null ? '' : ` Cost ${formatCost(cost)}.`
  return `${passed} of ${total} runs passed${share}, wanted ${percent(minimum)}; ${verdict}.${money}`
}
