import { countOf } from '../format/format-number.ts'
import { callsOf, type Call } from './calls.ts'
import { requireNumber, requireOptions, requireText } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import { describeCall } from './expected-call.ts'
import {
  describe,
  findMismatch,
  requireArguments,
  type ArgumentOptions,
  type ExpectedArguments,
} from './match-arguments.ts'
import type { Verdict } from './verdict.ts'

export type CalledOptions = ArgumentOptions & {
  /** The expected arguments: `["c_42"]`, `{ customerId: "c_42" }`, or a predicate. */
  args?: ExpectedArguments | undefined
  /** The exact number of calls; at least one when omitted. */
  times?: number | undefined
  /** Count only calls inside this sub-agent. */
  agent?: string | undefined
}

/**
 * Checks that an action was called, optionally with which arguments and how often.
 *
 * @example
 * called(session, "fetch_customer_data", { args: ["c_42"], times: 1 })
 */
export function called(subject: SessionSubject, name: string, given?: CalledOptions): Verdict {
  const session = readSubject(subject)
  requireText(name, 'The name of the action')
  const options = requireOptions(given)
  const { args, times, agent } = options
  requireArguments(args, options)
  if (times !== undefined) requireNumber(times, 'The option times', { min: 0, isWhole: true })
  if (agent !== undefined) requireText(agent, 'The option agent')
  const calls = agent === undefined ? callsOf(session) : callsInside(session, agent)
  const named = calls.filter((call) => call.name === name)
  const mismatches = named.map((call) =>
    args === undefined ? undefined : findMismatch(call.args, args, options),
  )
  const matching = named.filter((_, index) => mismatches[index] === undefined)
  const pass = times === undefined ? matching.length > 0 : matching.length === times
  const wanted = `${name}${args === undefined ? '' : ` with ${describeArguments(args)}`}${agent === undefined ? '' : ` inside ${agent}`}`
  const often = times === undefined ? '' : ` ${describeTimes(times)}`
  const shown = pass ? matching[0] : (named[0] ?? matching[0])
  const head = pass
    ? `Expected the session not to call ${wanted}${often}, but it did:`
    : `Expected the session to call ${wanted}${often}, but ${describeActual(named, matching)}`
  const details = pass
    ? matching.map((call) => `  ${describeCall(call)}`)
    : named.length === 0
      ? [listOfCalls(calls)]
      : named.map((call, index) => {
          const found = mismatches[index]
          return `  ${describeCall(call)}${found === undefined ? '' : `\n      ${found.path === '' ? 'arguments' : found.path}: expected ${found.expected}, got ${found.actual}`}`
        })
  const message = `${head}\n${details.join('\n')}`
  return { pass, message, ...(shown !== undefined && { stepId: shown.step.id }) }
}

function callsInside(session: Parameters<typeof callsOf>[0], agent: string): Call[] {
  return callsOf(session, new Set([agent])).flatMap((call) => call.inside ?? [])
}

function describeActual(named: readonly Call[], matching: readonly Call[]): string {
  if (named.length === 0) return 'it did not.'
  if (matching.length === 0) return 'the arguments were different:'
  return `it did ${describeTimes(matching.length)}:`
}

/** "once", "twice", "5 times". */
function describeTimes(count: number): string {
  if (count === 1) return 'once'
  return count === 2 ? 'twice' : countOf(count, 'time')
}

export function listOfCalls(calls: readonly Call[]): string {
  const names = [...new Set(calls.map(({ name }) => name))]
  return names.length === 0 ? '  It made no calls.' : `  It called: ${names.join(', ')}.`
}

function describeArguments(args: ExpectedArguments): string {
  return typeof args === 'function' ? 'matching arguments' : describe(args)
}
