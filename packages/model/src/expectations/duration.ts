import { parseDuration } from '../filter/filter-value.ts'
import { formatDuration } from '../format/format-time.ts'
import type { Session } from '../session/session.ts'
import { callsOf } from './calls.ts'
import { fail, requireOptions } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import { describeCall } from './expected-call.ts'
import type { Verdict } from './verdict.ts'

/** "8s", "500ms", "2m", or milliseconds. */
export type DurationText = string | number

export type FinishOptions = {
  /** The longest that a single call of each action may take. */
  perTool?: { readonly [name: string]: DurationText } | undefined
}

/**
 * Checks that a session finished in time, from its start to the end of its last step.
 *
 * @example
 * finishesWithin(session, "8s", { perTool: { fetch_customer_data: "2s" } })
 */
export function finishesWithin(
  subject: SessionSubject,
  limit: DurationText,
  options?: FinishOptions,
): Verdict {
  const session = readSubject(subject)
  const limitMs = readDuration(limit)
  const perTool = requireOptions(requireOptions(options).perTool, 'The option perTool')
  for (const allowed of Object.values(perTool)) readDuration(allowed)
  const tookMs = durationOf(session)
  const slow = callsOf(session).find(({ name, step }) => {
    const allowed = Object.hasOwn(perTool, name) ? perTool[name] : undefined
    return allowed !== undefined && (step.durationMs ?? 0) > readDuration(allowed)
  })
  const took = `it took ${formatDuration(tookMs)}`
  if (tookMs > limitMs) {
    const longest = longestOf(session)
    const detail =
      longest === undefined
        ? ''
        : `\n  Longest step: #${session.steps.indexOf(longest) + 1} ${longest.name}, ${formatDuration(longest.durationMs ?? 0)}`
    return {
      pass: false,
      message: `Expected the session to finish within ${formatDuration(limitMs)}, but ${took}.${detail}`,
      ...(longest !== undefined && { stepId: longest.id }),
    }
  }
  if (slow !== undefined)
    return {
      pass: false,
      message: `Expected ${slow.name} to take at most ${formatDuration(readDuration(perTool[slow.name]!))}, but it took ${formatDuration(slow.step.durationMs ?? 0)}:\n  ${describeCall(slow)}`,
      stepId: slow.step.id,
    }
  return {
    pass: true,
    message: `Expected the session to take longer than ${formatDuration(limitMs)}, but ${took}.`,
  }
}

/** The session of a running test is still open, so its duration ends with its last finished step. */
function durationOf({ session, steps }: Session): number {
  if (session.durationMs !== null) return session.durationMs
  const ends = steps.filter(({ durationMs }) => durationMs !== null)
  return Math.max(0, ...ends.map((step) => step.offsetMs + step.durationMs!))
}

function longestOf({ steps }: Session) {
  const parents = new Set(steps.map(({ parentId }) => parentId))
  return steps
    .filter((step) => !parents.has(step.id))
    .toSorted((left, right) => (right.durationMs ?? 0) - (left.durationMs ?? 0))[0]
}

export function readDuration(duration: DurationText): number {
  const durationMs = typeof duration === 'string' ? parseDuration(duration) : duration
  if (typeof durationMs === 'number' && durationMs >= 0) return durationMs
  return fail('A duration', 'must be like "8s", "500ms" or 1500 (milliseconds)', duration)
}
