import { alignCalls } from './align-calls.ts'
import { callsOf, type Call } from '../sessions/calls.ts'
import {
  agentsIn,
  anyOrder,
  flattenCalls,
  isAnyOrder,
  trajectoryModes,
  type ExpectedCall,
  type TrajectoryMode,
} from './expected-call.ts'
import { isCall, isTrajectory, writesOf } from './find-trajectory.ts'
import { replayLine } from '../sessions/replay-link.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import { renderStepDiff, type StepDiffOptions } from './step-diff.ts'
import type { Verdict } from './verdict.ts'

export type TrajectoryOptions = {
  /**
   * `exact`: these calls, in this order, and no others (the default). `containsInOrder`: these in this order, others may be
   * between them. `sameTools`: these and no others, in any order. `onlyTheseTools`: no others, however often and in whichever
   * order. `effectsOnly`: the calls that write are exactly these.
   */
  mode?: TrajectoryMode | undefined
}

const wants: Record<TrajectoryMode, string> = {
  exact: 'these calls in this order, and no others',
  containsInOrder: 'these calls in this order, whatever is between them',
  sameTools: 'these calls and no others, in any order',
  onlyTheseTools: 'no other calls than these',
  effectsOnly: 'these calls that write, and no others that do',
}

const differences: Record<TrajectoryMode, StepDiffOptions> = {
  exact: {},
  containsInOrder: { areOthersAllowed: true },
  sameTools: {},
  onlyTheseTools: { areMissingAllowed: true },
  effectsOnly: {},
}

/**
 * Whether the calls of a session are those expected, in the sense of a mode.
 *
 * @example
 * matchesTrajectory(session, ["classify_intent", anyOrder(["fetch_customer_data", "fetch_invoices"])], { mode: "containsInOrder" })
 */
export function matchesTrajectory(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  { mode = 'exact' }: TrajectoryOptions = {},
): Verdict {
  if (!trajectoryModes.includes(mode))
    throw new TypeError(`There is no mode "${mode}"; it is one of ${trajectoryModes.join(', ')}.`)
  const session = readSubject(subject)
  const all = callsOf(session, agentsIn(expected))
  const calls = mode === 'effectsOnly' ? writesOf(all) : all
  const pass = isTrajectory(calls, expected, mode)
  const { text, gist, stepId } = renderStepDiff(rowsFor(mode, expected, calls), differences[mode])
  const head = pass
    ? `Expected anything but ${wants[mode]}:`
    : `Wrong tool sequence: ${gist}. Expected ${wants[mode]}:`
  const link = replayLine(session.session, pass ? undefined : stepId)
  return {
    pass,
    message: `${head}\n\n${text}${link}`,
    ...(!pass && stepId !== undefined && { stepId }),
  }
}

/** Where order does not matter, what was expected is put in the order of what happened. */
function rowsFor(mode: TrajectoryMode, expected: readonly ExpectedCall[], calls: readonly Call[]) {
  if (mode !== 'sameTools' && mode !== 'onlyTheseTools')
    return alignCalls(settleGroups(expected, calls), calls)
  const left: ExpectedCall[] = flattenCalls(expected)
  const inOrder: ExpectedCall[] = []
  for (const call of calls) {
    const index = left.findIndex((one) => isCall(call, one))
    if (index === -1) continue
    inOrder.push(left[index]!)
    if (mode === 'sameTools') left.splice(index, 1)
  }
  const missing = mode === 'sameTools' ? left : flattenCalls(expected).filter((one) => !inOrder.includes(one))
  return alignCalls([...inOrder, ...missing], calls)
}

/** The members of a group in the order in which they happened. */
function settleGroups(expected: readonly ExpectedCall[], calls: readonly Call[]): ExpectedCall[] {
  return expected.map((one) => {
    if (!isAnyOrder(one)) return one
    const placeOf = (member: ExpectedCall) => {
      const index = calls.findIndex((call) => isCall(call, member))
      return index === -1 ? calls.length : index
    }
    return anyOrder(one.anyOrder.toSorted((left, right) => placeOf(left) - placeOf(right)))
  })
}

export type InOrderOptions = {
  /** Nothing else may be called. */
  exact?: boolean | undefined
}

/**
 * Whether these actions were called in this order; others may be between them.
 *
 * @example
 * calledInOrder(session, ["classify_intent", "fetch_customer_data", "session_complete"])
 */
export function calledInOrder(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  { exact = false }: InOrderOptions = {},
): Verdict {
  return matchesTrajectory(subject, expected, { mode: exact ? 'exact' : 'containsInOrder' })
}
