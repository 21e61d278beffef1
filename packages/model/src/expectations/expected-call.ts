import { describeValue } from '../format/visible-text.ts'
import { isRecord } from '../json/attribute-value.ts'
import type { Call } from './calls.ts'
import { fail, requireList, requireOneOf, requireText } from './required-argument.ts'
import {
  describe,
  findMismatch,
  requireArguments,
  type ArgumentOptions,
  type ExpectedArguments,
  type Mismatch,
} from './match-arguments.ts'

/** How the expected calls are compared with the actual ones. */
export type TrajectoryMode = 'exact' | 'containsInOrder' | 'sameTools' | 'onlyTheseTools' | 'effectsOnly'

export const trajectoryModes = [
  'exact',
  'containsInOrder',
  'sameTools',
  'onlyTheseTools',
  'effectsOnly',
] as const satisfies readonly TrajectoryMode[]

export type ToolCall = ArgumentOptions & { tool: string; args?: ExpectedArguments | undefined }

/** A call of a sub-agent, with the calls expected inside it. */
export type AgentCall = {
  agent: string
  args?: ExpectedArguments | undefined
  steps?: readonly ExpectedCall[] | undefined
  mode?: TrajectoryMode | undefined
}

/** A group of calls that may come in any order. */
export type AnyOrder = { anyOrder: readonly ExpectedCall[] }

export type ExpectedCall = string | ToolCall | AgentCall | AnyOrder

/**
 * Groups calls that may come in any order.
 *
 * @example
 * expect(session).toMatchTrajectory(["classify_intent", anyOrder(["fetch_customer_data", "fetch_invoices"]), "generate_reply"])
 */
export function anyOrder(calls: readonly ExpectedCall[]): AnyOrder {
  requireCalls(calls)
  return { anyOrder: calls }
}

const MAX_DEPTH = 50

/** Throws a sentence if this is not a list of calls. */
export function requireCalls(calls: unknown, depth = 0): void {
  if (depth > MAX_DEPTH) throw new TypeError(`The expected calls are nested more than ${MAX_DEPTH} deep.`)
  for (const call of requireList(calls, 'The expected calls')) {
    if (typeof call === 'string') continue
    if (!isRecord(call))
      fail('An expected call', 'must be a name, { tool, args }, { agent, steps } or anyOrder([…])', call)
    if ('anyOrder' in call) requireCalls(call.anyOrder, depth + 1)
    else if ('agent' in call) requireAgentCall(call, depth)
    else {
      requireText(call.tool, 'The tool of an expected call')
      requireArguments(call.args, call)
    }
  }
}

function requireAgentCall({ agent, args, steps, mode }: Record<string, unknown>, depth: number): void {
  requireText(agent, 'The agent of an expected call')
  requireArguments(args, {})
  if (steps !== undefined) requireCalls(steps, depth + 1)
  if (mode !== undefined) requireOneOf(mode, `The mode of ${String(agent)}`, trajectoryModes)
}

export function isAnyOrder(call: ExpectedCall): call is AnyOrder {
  return typeof call === 'object' && 'anyOrder' in call
}

export function isAgentCall(call: ExpectedCall): call is AgentCall {
  return typeof call === 'object' && 'agent' in call
}

/** Replaces groups by the calls in them. */
export function flattenCalls(calls: readonly ExpectedCall[]): (string | ToolCall | AgentCall)[] {
  return calls.flatMap((call) => (isAnyOrder(call) ? flattenCalls(call.anyOrder) : [call]))
}

/** The names of the sub-agents in a list of calls. */
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

/** The name and, if specified, the arguments. */
export function describeExpected(call: string | ToolCall | AgentCall): string {
  if (typeof call === 'string') return call
  const { args } = call
  const suffix = args === undefined ? '' : ` ${typeof args === 'function' ? '(…)' : describe(args, 60)}`
  return `${nameOf(call)}${suffix}`
}

export function describeCall({ name, args, number }: Call, width = 60): string {
  return `#${number} ${name}${args === undefined ? '' : ` ${describeValue(args, width)}`}`
}

/** The first argument that differs; undefined when they match or none are specified. */
export function mismatchOf(call: Call, expected: string | ToolCall | AgentCall): Mismatch | undefined {
  if (typeof expected === 'string' || expected.args === undefined) return undefined
  return findMismatch(call.args, expected.args, 'tool' in expected ? expected : {})
}

/** True when the call has the expected name and kind, whatever its arguments. */
export function isNamed(call: Call, expected: string | ToolCall | AgentCall): boolean {
  if (call.name !== nameOf(expected)) return false
  return typeof expected === 'string' || 'agent' in expected === (call.inside !== undefined)
}
