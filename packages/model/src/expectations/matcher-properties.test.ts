import type { Session, SessionSummary } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { called } from './called.ts'
import { anyOrder, trajectoryModes, type ToolCall } from './expected-call.ts'
import { findMismatch } from './match-arguments.ts'
import { before, satisfiesOrder } from './order-rules.ts'
import { calledInOrder, hasEffects, matchesTrajectory } from './trajectory.ts'

type Made = { tool: string; args: { [name: string]: unknown }; effect?: 'read' | 'write' }

const toolName = fc.constantFrom('a', 'b', 'c', 'd')
const argument = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
const args = fc.dictionary(fc.constantFrom('x', 'y', 'z'), argument, { noNullPrototype: true })
const made: fc.Arbitrary<Made> = fc.record({
  tool: toolName,
  args,
  effect: fc.constantFrom('read' as const, 'write' as const),
})
const trajectory = fc.array(made, { maxLength: 8 })

function sessionOf(calls: readonly Made[]): Session {
  const steps = calls.map(({ tool, args: given, effect }, index): Step => ({
    id: `step${index}`,
    parentId: null,
    kind: 'action',
    name: tool,
    startedAt: '2026-01-01T00:00:00Z',
    endedAt: '2026-01-01T00:00:00Z',
    offsetMs: index,
    durationMs: 1,
    status: 'ok',
    hasPayload: true,
    tool: { name: tool, arguments: given },
    cost: null,
    dialect: 'playhead',
    ...(effect !== undefined && { effect }),
  }))
  return { session: { id: 'f'.repeat(32) } as SessionSummary, steps }
}

const expectedOf = (calls: readonly Made[]): ToolCall[] =>
  calls.map(({ tool, args: given }) => ({ tool, args: given, mode: 'exact' }))
const sort = (calls: readonly Made[]) => calls.map((call) => JSON.stringify(call)).toSorted()

test('a trajectory matches itself in every mode, and its writes are its effects', () => {
  fc.assert(
    fc.property(trajectory, (calls) => {
      const writes = calls.filter(({ effect }) => effect === 'write')
      for (const mode of trajectoryModes)
        expect(
          matchesTrajectory(sessionOf(calls), expectedOf(mode === 'effectsOnly' ? writes : calls), { mode }),
        ).toMatchObject({ pass: true })
      expect(hasEffects(sessionOf(calls), expectedOf(writes)).pass).toBe(true)
      expect(hasEffects(sessionOf(calls), expectedOf(writes), { inOrder: true }).pass).toBe(true)
    }),
  )
})

test('order matters only in the ordered modes', () => {
  const shuffled = trajectory.chain((calls) =>
    fc.tuple(fc.constant(calls), fc.shuffledSubarray(calls, { minLength: calls.length })),
  )
  fc.assert(
    fc.property(shuffled, ([calls, other]) => {
      const session = sessionOf(other)
      const expected = expectedOf(calls)
      const isSame = JSON.stringify(calls.map(withoutEffect)) === JSON.stringify(other.map(withoutEffect))
      expect(matchesTrajectory(session, expected, { mode: 'sameTools' }).pass).toBe(true)
      expect(matchesTrajectory(session, expected, { mode: 'onlyTheseTools' }).pass).toBe(true)
      expect(matchesTrajectory(session, [anyOrder(expected)], { mode: 'exact' }).pass).toBe(true)
      expect(matchesTrajectory(session, [anyOrder(expected)], { mode: 'containsInOrder' }).pass).toBe(true)
      // As many calls as expected: in order means in the same order.
      expect(matchesTrajectory(session, expected).pass).toBe(isEqual(calls, other) || isSame)
      expect(calledInOrder(session, expected).pass).toBe(isEqual(calls, other) || isSame)
    }),
  )
})

test('missing calls matter only in the strict modes', () => {
  const subset = trajectory.chain((calls) => fc.tuple(fc.constant(calls), fc.subarray(calls)))
  fc.assert(
    fc.property(subset, ([calls, some]) => {
      expect(calledInOrder(sessionOf(calls), expectedOf(some)).pass).toBe(true)
      expect(matchesTrajectory(sessionOf(some), expectedOf(calls), { mode: 'onlyTheseTools' }).pass).toBe(
        true,
      )
      for (const mode of ['exact', 'sameTools'] as const)
        expect(matchesTrajectory(sessionOf(calls), expectedOf(some), { mode }).pass).toBe(
          some.length === calls.length,
        )
      expect(calledInOrder(sessionOf(some), expectedOf(calls)).pass).toBe(some.length === calls.length)
    }),
  )
})

test('a failure marks one first difference, a success none', () => {
  fc.assert(
    fc.property(trajectory, trajectory, fc.constantFrom(...trajectoryModes), (calls, others, mode) => {
      const { pass, message } = matchesTrajectory(sessionOf(calls), expectedOf(others), { mode })
      expect(message.split('\n').filter((line) => line.startsWith('▶'))).toHaveLength(pass ? 0 : 1)
    }),
  )
})

test('called counts the calls of an action', () => {
  fc.assert(
    fc.property(trajectory, toolName, (calls, name) => {
      const times = calls.filter(({ tool }) => tool === name).length
      expect(called(sessionOf(calls), name).pass).toBe(times > 0)
      expect(called(sessionOf(calls), name, { times }).pass).toBe(true)
      expect(called(sessionOf(calls), name, { times: times + 1 }).pass).toBe(false)
    }),
  )
})

test('of two actions that were called, exactly one came first', () => {
  fc.assert(
    fc.property(trajectory, (calls) => {
      const session = sessionOf(calls)
      const has = (name: string) => calls.some(({ tool }) => tool === name)
      const verdicts = [before('a', 'b'), before('b', 'a')].map((rule) => satisfiesOrder(session, rule).pass)
      if (has('a') && has('b')) expect(verdicts.filter(Boolean)).toHaveLength(1)
      else expect(verdicts).toEqual([!has('b'), !has('a')])
    }),
  )
})

test('arguments match themselves, any subset, and anything that is ignored', () => {
  const nested = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      argument,
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('k', 'l', 'm'), tie('value'), { noNullPrototype: true }),
  }))
  const object = nested.object as fc.Arbitrary<{ [name: string]: unknown }>
  fc.assert(
    fc.property(object, fc.constantFrom('k', 'l', 'm'), fc.string(), (given, name, noise) => {
      expect(findMismatch(given, given, { mode: 'exact' })).toBeUndefined()
      const { [name]: _, ...part } = given
      expect(findMismatch(given, part)).toBeUndefined()
      expect(
        findMismatch({ ...given, [name]: noise }, given, { mode: 'exact', ignore: [name] }),
      ).toBeUndefined()
      expect(
        findMismatch({ ...part, [name]: noise }, part, { mode: 'exact', defaults: { [name]: noise } }),
      ).toBeUndefined()
      expect(findMismatch({ ...part, other: 1 }, part, { mode: 'exact' })).toMatchObject({ path: 'other' })
    }),
  )
})

function withoutEffect({ tool, args: given }: Made) {
  return { tool, args: given }
}

/** Treats null as missing, and ignores the order of keys. */
function isEqual(calls: readonly Made[], others: readonly Made[]): boolean {
  if (calls.length !== others.length) return false
  return calls.every((call, index) => {
    const other = others[index]!
    const known = (made: Made) =>
      sort([
        {
          tool: made.tool,
          args: Object.fromEntries(
            Object.entries(made.args)
              .filter(([, value]) => value !== null)
              .toSorted(([left], [right]) => left.localeCompare(right)),
          ),
        },
      ])
    return JSON.stringify(known(call)) === JSON.stringify(known(other))
  })
}
