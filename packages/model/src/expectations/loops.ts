import { callsOf, type Call } from './calls.ts'
import { requireNumber, requireOptions, requireTexts } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import { describeCall } from './expected-call.ts'
import type { Verdict } from './verdict.ts'

export type LoopOptions = {
  /** How often the same call may occur; 2 by default. */
  max?: number | undefined
  /** Actions that may repeat without limit, such as polling. */
  allow?: readonly string[] | undefined
}

const DEFAULT_MAX = 2

/**
 * Checks that a session did not repeat the same call, with the same arguments, over and over.
 *
 * @example
 * hasNoLoops(session, { allow: ["check_status"] })
 */
export function hasNoLoops(subject: SessionSubject, options?: LoopOptions): Verdict {
  const session = readSubject(subject)
  const { max = DEFAULT_MAX, allow = [] } = requireOptions(options)
  requireNumber(max, 'The option max', { min: 0, isWhole: true })
  requireTexts(allow, 'The option allow')
  const calls = callsOf(session).filter(({ name }) => !allow.includes(name))
  const repeated = [...Map.groupBy(calls, callKey).values()].filter((same) => same.length > max)
  const first = repeated[0]
  if (first === undefined)
    return {
      pass: true,
      message: `Expected the session to repeat a call more than ${max} times, but it did not.`,
    }
  const step = first[max]!.step
  const lines = repeated.map(
    (same) =>
      `  ${same.length} times: ${describeCall(same[0]!)}${same
        .slice(1)
        .map(({ number }) => `, #${number}`)
        .join('')}`,
  )
  return {
    pass: false,
    message: `Expected no call to be repeated more than ${max} times:\n${lines.join('\n')}`,
    stepId: step.id,
  }
}

/** How often the call occurs that occurs most, counted with its arguments. */
export function mostRepeated(calls: readonly Call[]): number {
  const counts = new Map<string, number>()
  for (const key of calls.map(callKey)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

/** Equal for the same call, whatever the order of the argument's keys. */
function callKey({ name, args }: Call): string {
  return JSON.stringify([name, args], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : value,
  )
}
