import type { Call } from './calls.ts'
import {
  flattenCalls,
  isAgentCall,
  isAnyOrder,
  isNamed,
  mismatchOf,
  type ExpectedCall,
  type TrajectoryMode,
} from './expected-call.ts'

/** True when the calls match the expected ones in the given mode. */
export function matchesCalls(
  calls: readonly Call[],
  expected: readonly ExpectedCall[],
  mode: TrajectoryMode,
): boolean {
  switch (mode) {
    case 'exact':
      return endOfExact(calls, expected, 0) === calls.length
    case 'effectsOnly':
      return matchesCalls(writesOf(calls), expected, 'exact')
    case 'containsInOrder':
      return findInOrder(calls, expected, 0) !== undefined
    case 'sameTools':
      return calls.length === sizeOf(expected) && canAssign(calls, expected)
    case 'onlyTheseTools':
      return calls.every((call) => flattenCalls(expected).some((one) => matchesCall(call, one)))
  }
}

/** The calls that write, including those inside sub-agents. */
export function writesOf(calls: readonly Call[]): Call[] {
  return calls.flatMap((call) => {
    if (call.inside !== undefined) return writesOf(call.inside)
    return call.effect === 'write' ? [call] : []
  })
}

/** True when the name, the arguments and the inner calls match. */
export function matchesCall(call: Call, expected: ExpectedCall): boolean {
  if (isAnyOrder(expected) || !isNamed(call, expected)) return false
  if (mismatchOf(call, expected) !== undefined) return false
  if (!isAgentCall(expected) || expected.steps === undefined) return true
  return matchesCalls(call.inside ?? [], expected.steps, expected.mode ?? 'containsInOrder')
}

/** Matches the expected calls from `start` without gaps. Returns the position after the last one. */
function endOfExact(
  calls: readonly Call[],
  expected: readonly ExpectedCall[],
  start: number,
): number | undefined {
  let position = start
  for (const one of expected) {
    const size = sizeOf([one])
    const next = calls.slice(position, position + size)
    const isMatch = isAnyOrder(one)
      ? canAssign(next, one.anyOrder)
      : next.every((call) => matchesCall(call, one))
    if (next.length < size || !isMatch) return undefined
    position += size
  }
  return position
}

/** Matches the expected calls in order, with gaps allowed. Returns the earliest position after the last one. */
function findInOrder(
  calls: readonly Call[],
  expected: readonly ExpectedCall[],
  start: number,
): number | undefined {
  let position = start
  for (const one of expected) {
    const found = isAnyOrder(one) ? endOfGroup(calls, one.anyOrder, position) : nextOf(calls, one, position)
    if (found === undefined) return undefined
    position = found
  }
  return position
}

function nextOf(calls: readonly Call[], expected: ExpectedCall, start: number): number | undefined {
  const index = calls.findIndex((call, at) => at >= start && matchesCall(call, expected))
  return index === -1 ? undefined : index + 1
}

/** The earliest position at which every member of the group has a call of its own. */
function endOfGroup(
  calls: readonly Call[],
  group: readonly ExpectedCall[],
  start: number,
): number | undefined {
  const members = flattenCalls(group)
  if (members.length === 0) return start
  for (let end = start + members.length; end <= calls.length; end += 1)
    if (assign(calls.slice(start, end), members) === members.length) return end
  return undefined
}

function canAssign(calls: readonly Call[], expected: readonly ExpectedCall[]): boolean {
  const members = flattenCalls(expected)
  return assign(calls, members) === members.length
}

/** Counts how many expected calls can be assigned distinct actual calls. One call may match several, so this is bipartite matching. */
function assign(calls: readonly Call[], expected: readonly ExpectedCall[]): number {
  const ownerOf = new Map<number, number>()
  const place = (member: number, tried: Set<number>): boolean => {
    for (const [index, call] of calls.entries()) {
      if (tried.has(index) || !matchesCall(call, expected[member]!)) continue
      tried.add(index)
      const owner = ownerOf.get(index)
      if (owner !== undefined && !place(owner, tried)) continue
      ownerOf.set(index, member)
      return true
    }
    return false
  }
  return expected.filter((_, member) => place(member, new Set())).length
}

function sizeOf(expected: readonly ExpectedCall[]): number {
  return flattenCalls(expected).length
}
