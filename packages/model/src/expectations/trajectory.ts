import { callsOf, type Call } from './calls.ts'
import { requireOneOf, requireOptions } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import {
  agentsIn,
  anyOrder,
  flattenCalls,
  isAnyOrder,
  requireCalls,
  trajectoryModes,
  type ExpectedCall,
  type TrajectoryMode,
} from './expected-call.ts'
import { matchesCall, matchesCalls, writesOf } from './match-calls.ts'
import { alignCalls, renderStepDiff, type StepDiffOptions } from './step-diff.ts'
import type { Verdict } from './verdict.ts'

export type TrajectoryOptions = {
  /**
   * `exact` (default): these calls in this order and no others. `containsInOrder`: these calls in this order, others may
   * come in between. `sameTools`: these calls and no others, in any order. `onlyTheseTools`: no other calls, in any order
   * and number. `effectsOnly`: the calls that write are exactly these, in this order.
   */
  mode?: TrajectoryMode | undefined
}

const expectations: Record<TrajectoryMode, string> = {
  exact: 'exactly these calls in this order',
  containsInOrder: 'these calls in this order, with others allowed in between',
  sameTools: 'exactly these calls in any order',
  onlyTheseTools: 'no calls other than these',
  effectsOnly: 'exactly these calls that write, in this order',
}

const diffOptions: Record<TrajectoryMode, StepDiffOptions> = {
  exact: {},
  containsInOrder: { areOthersAllowed: true },
  sameTools: {},
  onlyTheseTools: { areMissingAllowed: true },
  effectsOnly: {},
}

/**
 * Checks the calls of a session against the expected ones.
 *
 * @example
 * matchesTrajectory(session, ["classify_intent", anyOrder(["fetch_customer_data", "fetch_invoices"])], { mode: "containsInOrder" })
 */
export function matchesTrajectory(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  options?: TrajectoryOptions,
): Verdict {
  const session = readSubject(subject)
  requireCalls(expected)
  const { mode = 'exact' } = requireOptions(options)
  requireOneOf(mode, 'The mode', trajectoryModes)
  const all = callsOf(session, agentsIn(expected))
  const calls = mode === 'effectsOnly' ? writesOf(all) : all
  return compareCalls(calls, {
    expected,
    mode,
    what: 'tool sequence',
    text: expectations[mode],
    opposite: `anything but ${expectations[mode]}`,
  })
}

export type InOrderOptions = {
  /** Allow no other calls. */
  exact?: boolean | undefined
}

/**
 * Checks that these actions were called in this order; other calls may come in between.
 *
 * @example
 * calledInOrder(session, ["classify_intent", "fetch_customer_data", "session_complete"])
 */
export function calledInOrder(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  options?: InOrderOptions,
): Verdict {
  const { exact = false } = requireOptions(options)
  return matchesTrajectory(subject, expected, { mode: exact ? 'exact' : 'containsInOrder' })
}

export type EffectsOptions = {
  /** Check the order as well. */
  inOrder?: boolean | undefined
}

/**
 * Checks that a session made exactly these writes, whatever it read. Mark an action as a write with
 * `recordAction({ name, effect: "write" }, …)`.
 *
 * @example
 * hasEffects(session, [{ tool: "issue_refund", args: { invoice: "INV-2292" } }])
 */
export function hasEffects(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  options?: EffectsOptions,
): Verdict {
  const { inOrder = false } = requireOptions(options)
  if (inOrder) return matchesTrajectory(subject, expected, { mode: 'effectsOnly' })
  const session = readSubject(subject)
  requireCalls(expected)
  const calls = withoutReads(callsOf(session, agentsIn(expected)))
  const [text, opposite] =
    expected.length === 0
      ? ['no effects', 'at least one effect']
      : ['exactly these effects', 'anything but these effects']
  return compareCalls(calls, { expected, mode: 'sameTools', what: 'effects', text, opposite })
}

function withoutReads(calls: readonly Call[]): Call[] {
  return calls.flatMap((call) => {
    if (call.inside !== undefined) return [{ ...call, inside: withoutReads(call.inside) }]
    return call.effect === 'write' ? [call] : []
  })
}

type Comparison = {
  expected: readonly ExpectedCall[]
  mode: TrajectoryMode
  what: string
  text: string
  opposite: string
}

function compareCalls(calls: readonly Call[], { expected, mode, what, text, opposite }: Comparison): Verdict {
  const pass = matchesCalls(calls, expected, mode)
  const diff = renderStepDiff(alignExpected(mode, expected, calls), diffOptions[mode])
  if (pass) return { pass, message: `Expected ${opposite}:\n\n${diff.text}` }
  const { gist, stepId } = diff
  return {
    pass,
    message: `Wrong ${what}: ${gist}. Expected ${text}:\n\n${diff.text}`,
    ...(stepId !== undefined && { stepId }),
  }
}

/** Where order does not matter, puts the expected calls in the order of the actual ones before aligning them. */
function alignExpected(mode: TrajectoryMode, expected: readonly ExpectedCall[], calls: readonly Call[]) {
  if (mode !== 'sameTools' && mode !== 'onlyTheseTools') return alignCalls(sortGroups(expected, calls), calls)
  const left: ExpectedCall[] = flattenCalls(expected)
  const inOrder: ExpectedCall[] = []
  for (const call of calls) {
    const index = left.findIndex((one) => matchesCall(call, one))
    if (index === -1) continue
    inOrder.push(left[index]!)
    if (mode === 'sameTools') left.splice(index, 1)
  }
  const missing = mode === 'sameTools' ? left : flattenCalls(expected).filter((one) => !inOrder.includes(one))
  return alignCalls([...inOrder, ...missing], calls)
}

/** Sorts the members of each group by when they were called. */
function sortGroups(expected: readonly ExpectedCall[], calls: readonly Call[]): ExpectedCall[] {
  return expected.map((one) => {
    if (!isAnyOrder(one)) return one
    const positionOf = (member: ExpectedCall) => {
      const index = calls.findIndex((call) => matchesCall(call, member))
      return index === -1 ? calls.length : index
    }
    return anyOrder(one.anyOrder.toSorted((left, right) => positionOf(left) - positionOf(right)))
  })
}
