import { callsOf, type Call } from '../sessions/calls.ts'
import { replayLine } from '../sessions/replay-link.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
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
import { alignCalls, renderStepDiff, type StepDiffOptions } from './step-diff.ts'
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

export type EffectsOptions = {
  /** Their order matters too. */
  inOrder?: boolean | undefined
}

/**
 * Whether a session changed the world in just these ways, whatever it read. An action says that it writes with
 * `recordAction({ name, effect: "write" }, …)`.
 *
 * @example
 * hasEffects(session, [{ tool: "issue_refund", args: { invoice: "INV-2292" } }])
 */
export function hasEffects(
  subject: SessionSubject,
  expected: readonly ExpectedCall[],
  { inOrder = false }: EffectsOptions = {},
): Verdict {
  if (inOrder) return matchesTrajectory(subject, expected, { mode: 'effectsOnly' })
  const session = readSubject(subject)
  const writes = writesOf(callsOf(session, agentsIn(expected)))
  const verdict = matchesTrajectory(onlyThese(session, writes), expected, { mode: 'sameTools' })
  const [first = '', ...rest] = verdict.message.split('\n')
  const gist = /^Wrong tool sequence: (.*?)\. Expected/.exec(first)?.[1]
  const wanted = expected.length === 0 ? 'no effects' : 'these effects and no others'
  const head = verdict.pass
    ? `Expected the session not to have ${wanted}:`
    : `Wrong effects: ${gist}. Expected ${wanted}:`
  return { ...verdict, message: [head, ...rest].join('\n') }
}

/** The session with all other actions turned into something that is no call: numbers and links stay. */
function onlyThese(session: ReturnType<typeof readSubject>, writes: readonly Call[]) {
  const kept = new Set(writes.map(({ step }) => step.id))
  const steps = session.steps.map((step) =>
    kept.has(step.id) || step.kind !== 'action' ? step : { ...step, kind: 'other' as const },
  )
  return { session: session.session, steps }
}
