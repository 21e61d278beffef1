import type { Call } from '../sessions/calls.ts'
import {
  isAgentCall,
  isAnyOrder,
  isNamed,
  mismatchOf,
  type ExpectedCall,
  type TrajectoryMode,
} from './expected-call.ts'

/** True when the calls are what is expected, in the sense of the mode. */
export function isTrajectory(
  calls: readonly Call[],
  expected: readonly ExpectedCall[],
  mode: TrajectoryMode,
): boolean {
  switch (mode) {
    case 'exact':
      return endOfExact(calls, expected, 0) === calls.length
    case 'effectsOnly':
      return isTrajectory(writesOf(calls), expected, 'exact')
    case 'containsInOrder':
      return findInOrder(calls, expected, 0) !== undefined
    case 'sameTools':
      return calls.length === sizeOf(expected) && canAssign(calls, expected)
    case 'onlyTheseTools':
      return calls.every((call) => flatten(expected).some((one) => isCall(call, one)))
  }
}

/** Actions that change the world, those inside sub-agents included. */
export function writesOf(calls: readonly Call[]): Call[] {
  return calls.flatMap((call) => {
    if (call.inside !== undefined) return writesOf(call.inside)
    return call.effect === 'write' ? [call] : []
  })
}

/** True when this very call is expected: its name, its arguments, and what is inside it. */
export function isCall(call: Call, expected: ExpectedCall): boolean {
  if (isAnyOrder(expected) || !isNamed(call, expected)) return false
  if (mismatchOf(call, expected) !== undefined) return false
  if (!isAgentCall(expected) || expected.steps === undefined) return true
  return isTrajectory(call.inside ?? [], expected.steps, expected.mode ?? 'containsInOrder')
}

/** Where the calls that are expected from `start` on end, when nothing is between them; undefined when they are not there. */
function endOfExact(
  calls: readonly Call[],
  expected: readonly ExpectedCall[],
  start: number,
): number | undefined {
  let position = start
  for (const one of expected) {
    const size = sizeOf([one])
    const taken = calls.slice(position, position + size)
    const isThere = isAnyOrder(one)
      ? canAssign(taken, one.anyOrder)
      : taken.every((call) => isCall(call, one))
    if (taken.length < size || !isThere) return undefined
    position += size
  }
  return position
}

/** The earliest place after which everything expected has happened in its order. */
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
  const index = calls.findIndex((call, at) => at >= start && isCall(call, expected))
  return index === -1 ? undefined : index + 1
}

/** The earliest place at which every member of a group has had a call of its own. */
function endOfGroup(
  calls: readonly Call[],
  group: readonly ExpectedCall[],
  start: number,
): number | undefined {
  const members = flatten(group)
  if (members.length === 0) return start
  for (let end = start + members.length; end <= calls.length; end += 1)
    if (assign(calls.slice(start, end), members) === members.length) return end
  return undefined
}

function canAssign(calls: readonly Call[], expected: readonly ExpectedCall[]): boolean {
  const members = flatten(expected)
  return assign(calls, members) === members.length
}

/** How many of the expected calls can have a call each: augmenting paths, because one call may suit several. */
function assign(calls: readonly Call[], expected: readonly ExpectedCall[]): number {
  const ownerOf = new Map<number, number>()
  const place = (member: number, tried: Set<number>): boolean => {
    for (const [index, call] of calls.entries()) {
      if (tried.has(index) || !isCall(call, expected[member]!)) continue
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
  return flatten(expected).length
}

function flatten(expected: readonly ExpectedCall[]): ExpectedCall[] {
  return expected.flatMap((one) => (isAnyOrder(one) ? flatten(one.anyOrder) : [one]))
}
