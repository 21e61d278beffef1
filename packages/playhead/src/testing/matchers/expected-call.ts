import { describeValue } from '@playhead/model'
import type { Call } from '../sessions/calls.ts'
import {
  describe,
  findMismatch,
  type ArgumentOptions,
  type ExpectedArguments,
  type Mismatch,
} from './match-arguments.ts'

/** How a list of calls is compared with what happened. */
export type TrajectoryMode = 'exact' | 'containsInOrder' | 'sameTools' | 'onlyTheseTools' | 'effectsOnly'

export const trajectoryModes = [
  'exact',
  'containsInOrder',
  'sameTools',
  'onlyTheseTools',
  'effectsOnly',
] as const satisfies readonly TrajectoryMode[]

export type ToolCall = ArgumentOptions & { tool: string; args?: ExpectedArguments | undefined }

/** A sub-agent, and what is expected inside it. */
export type AgentCall = {
  agent: string
  args?: ExpectedArguments | undefined
  steps?: readonly ExpectedCall[] | undefined
  mode?: TrajectoryMode | undefined
}

/** Calls whose order among each other does not matter. */
export type AnyOrder = { anyOrder: readonly ExpectedCall[] }

export type ExpectedCall = string | ToolCall | AgentCall | AnyOrder

/**
 * Calls that may come in any order.
 *
 * @example
 * expect(session).toMatchTrajectory(["classify_intent", anyOrder(["fetch_customer_data", "fetch_invoices"]), "generate_reply"])
 */
export function anyOrder(calls: readonly ExpectedCall[]): AnyOrder {
  return { anyOrder: calls }
}

export function isAnyOrder(call: ExpectedCall): call is AnyOrder {
  return typeof call === 'object' && 'anyOrder' in call
}

export function isAgentCall(call: ExpectedCall): call is AgentCall {
  return typeof call === 'object' && 'agent' in call
}

/** The calls of groups among the others. */
export function flattenCalls(calls: readonly ExpectedCall[]): (string | ToolCall | AgentCall)[] {
  return calls.flatMap((call) => (isAnyOrder(call) ? flattenCalls(call.anyOrder) : [call]))
}

/** The sub-agents that are expected as a whole. */
export function agentsIn(calls: readonly ExpectedCall[]): Set<string> {
  return new Set(
    flattenCalls(calls)
      .filter(isAgentCall)
      .flatMap(({ agent, steps }) => [agent, ...agentsIn(steps ?? [])]),
  )
}

export function nameOf(call: string | ToolCall | AgentCall): string {
  if (typeof call === 'string') return call
  return 'agent' in call ? call.agent : call.tool
}

/** The name and, where they are expected, the arguments. */
export function describeExpected(call: string | ToolCall | AgentCall): string {
  if (typeof call === 'string') return call
  const { args } = call
  const suffix = args === undefined ? '' : ` ${typeof args === 'function' ? '(…)' : describe(args, 60)}`
  return `${nameOf(call)}${suffix}`
}

export function describeCall({ name, args, number }: Call, width = 60): string {
  return `#${number} ${name}${args === undefined ? '' : ` ${describeValue(args, width)}`}`
}

/** What of the arguments is not as expected; undefined when nothing is, or when none are expected. */
export function mismatchOf(call: Call, expected: string | ToolCall | AgentCall): Mismatch | undefined {
  if (typeof expected === 'string' || expected.args === undefined) return undefined
  return findMismatch(call.args, expected.args, 'tool' in expected ? expected : {})
}

/** True when the call is the tool or agent that is expected, whatever its arguments. */
export function isNamed(call: Call, expected: string | ToolCall | AgentCall): boolean {
  if (call.name !== nameOf(expected)) return false
  return typeof expected === 'string' || 'agent' in expected === (call.inside !== undefined)
}
