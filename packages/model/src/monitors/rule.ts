import { called } from '../expectations/called.ts'
import { callsOf, type Call } from '../expectations/calls.ts'
import { costsLessThan } from '../expectations/cost.ts'
import { finishesWithin } from '../expectations/duration.ts'
import { hasNoErrors } from '../expectations/errors.ts'
import { hasNoLoops } from '../expectations/loops.ts'
import { before, satisfiesOrder } from '../expectations/order-rules.ts'
import type { Verdict } from '../expectations/verdict.ts'
import { formatDuration } from '../format/format-time.ts'
import type { FindingKind, Findings } from '../findings/finding.ts'
import { scoreNumber, showScore } from '../session/score.ts'
import type { Session } from '../session/session.ts'

/** A matcher of the testing kit as data: what every session must satisfy. */
export type Rule =
  | { kind: 'never'; action: string; before?: string }
  | { kind: 'always'; action: string }
  | { kind: 'at-most'; times: number; action?: string }
  | { kind: 'only'; actions: string[] }
  | { kind: 'cost'; atMost: number }
  | { kind: 'duration'; atMostMs: number }
  | { kind: 'no-errors' }
  | { kind: 'no-finding'; findings: FindingKind[] }
  | { kind: 'score'; name: string; atLeast: number }

export const ruleKinds = [
  'never',
  'always',
  'at-most',
  'only',
  'cost',
  'duration',
  'no-errors',
  'no-finding',
  'score',
] as const satisfies readonly Rule['kind'][]

/** "never issue_refund before verify_identity". */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case 'never':
      return rule.before === undefined ? `never ${rule.action}` : `never ${rule.action} before ${rule.before}`
    case 'always':
      return `always ${rule.action}`
    case 'at-most':
      return `at most ${rule.times} × ${rule.action ?? 'any action'} with the same arguments`
    case 'only':
      return `no action outside ${rule.actions.join(', ')}`
    case 'cost':
      return `cost ≤ $${rule.atMost}`
    case 'duration':
      return `duration ≤ ${rule.atMostMs / 1000}s`
    case 'no-errors':
      return 'no errors'
    case 'no-finding':
      return `no finding of kind ${rule.findings.join(', ')}`
    case 'score':
      return `score ${rule.name} ≥ ${rule.atLeast}`
  }
}

/**
 * Checks a rule on a session with the code of the testing kit. Undefined if it can't be told yet or ever: a session that
 * runs has not called everything and may still handle its errors, a cost is unknown, a score is missing. With `nowMs`, a
 * session that runs for too long breaks its limit before it ends.
 */
export function checkRule(
  rule: Rule,
  session: Session,
  found: Findings & { nowMs?: number },
): Verdict | undefined {
  const isRunning = session.session.endState === 'running'
  switch (rule.kind) {
    case 'never':
      return rule.before === undefined
        ? negated(called(session, rule.action))
        : satisfiesOrder(session, before(rule.before, rule.action))
    case 'always':
      return isRunning ? undefined : called(session, rule.action)
    case 'at-most': {
      const { action, times } = rule
      const others = new Set(callsOf(session).flatMap(({ name }) => (name === action ? [] : [name])))
      return hasNoLoops(session, { max: times, allow: action === undefined ? [] : [...others] })
    }
    case 'only':
      return checkOnly(session, new Set(rule.actions))
    case 'cost': {
      // The matcher's limit is out of bounds itself, that of a rule is not.
      const verdict = costsLessThan(session, rule.atMost * (1 + 1e-9) + 1e-12)
      return verdict.isUndecided === true ? undefined : verdict
    }
    case 'duration':
      return isRunning
        ? checkElapsed(session, rule.atMostMs, found.nowMs)
        : finishesWithin(session, rule.atMostMs)
    case 'no-errors':
      return isRunning ? undefined : hasNoErrors(session, { allowHandled: true })
    case 'no-finding':
      return isRunning ? undefined : checkFindings(found, rule.findings)
    case 'score':
      return checkScore(session, rule.name, rule.atLeast)
  }
}

/** It has not ended, so it can only be too late. */
function checkElapsed(session: Session, atMostMs: number, nowMs: number | undefined): Verdict | undefined {
  const startedAtMs = Date.parse(session.session.startedAt)
  const elapsedMs = (nowMs ?? startedAtMs) - startedAtMs
  if (elapsedMs <= atMostMs) {
    const verdict = finishesWithin(session, atMostMs)
    return verdict.pass ? undefined : verdict
  }
  const open = session.steps.findLast(({ status }) => status === 'running') ?? session.steps.at(-1)
  return {
    pass: false,
    message: `Expected the session to finish within ${formatDuration(atMostMs)}, but it runs for ${formatDuration(elapsedMs)} already.`,
    ...(open !== undefined && { stepId: open.id }),
  }
}

function negated({ pass, ...verdict }: Verdict): Verdict {
  return { ...verdict, pass: !pass }
}

function checkOnly(session: Session, allowed: ReadonlySet<string>): Verdict {
  const outside: Call | undefined = callsOf(session).find(({ name }) => !allowed.has(name))
  if (outside === undefined) return { pass: true, message: 'Expected an action that is not on the list.' }
  const message = `Expected no action outside ${[...allowed].join(', ')}, but ${outside.name} was called.`
  return { pass: false, message, stepId: outside.step.id }
}

function checkFindings({ findings, suspects }: Findings, kinds: readonly FindingKind[]): Verdict {
  // What the page shows: a finding counts if it makes a step suspect.
  const shown = suspects.flatMap((suspect) => suspect.findings.map((index) => findings[index]!))
  const bad = shown.find(({ kind }) => kinds.includes(kind))
  if (bad === undefined) return { pass: true, message: `Expected a finding of kind ${kinds.join(', ')}.` }
  return { pass: false, message: bad.sentence, stepId: bad.stepId }
}

function checkScore(session: Session, name: string, atLeast: number): Verdict | undefined {
  const score = session.session.scores?.find((given) => given.name === name)
  const value = score === undefined ? null : scoreNumber(score.value)
  if (score === undefined || value === null) return undefined
  return {
    pass: value >= atLeast,
    message: `Expected ${name} to be at least ${atLeast}; it is ${showScore(value)}.`,
    ...(score.stepId !== undefined && { stepId: score.stepId }),
  }
}
