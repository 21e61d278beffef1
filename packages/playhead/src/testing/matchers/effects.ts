import { matchesTrajectory } from './trajectory.ts'
import { agentsIn, type ExpectedCall } from './expected-call.ts'
import { callsOf, type Call } from '../sessions/calls.ts'
import { writesOf } from './find-trajectory.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import type { Verdict } from './verdict.ts'

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
