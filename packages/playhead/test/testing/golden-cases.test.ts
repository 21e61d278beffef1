import { readFileSync, writeFileSync } from 'node:fs'
import {
  anyOrder,
  before,
  directlyBefore,
  judgeSequence,
  judgeShare,
  neverBoth,
  passAtK,
  passHatK,
  wilson,
  type Session,
} from '@playhead/model'
import { afterAll, describe, expect, test } from 'vitest'
import { extendedMatchers, verdictsOf, type MatcherName } from '../../src/testing/matchers/matchers.ts'
import type { AgentTestOptions } from '../../src/testing/runs/agent-test.ts'
import { judgeRuns, type FinishedRun } from '../../src/testing/runs/judge-runs.ts'
import { variations } from '../../src/testing/runs/variations.ts'

// Python's kit runs the same file (clients/python/tests/test_golden_cases.py), so the two can't drift apart.
type GoldenCases = {
  sessions: Record<string, Session>
  matchers: MatcherCase[]
  statistics: { function: keyof typeof statistics; arguments: never[]; result: unknown }[]
  judgements: Judgement[]
  variations: { text: string; seed: number; rules: [string, ...unknown[]][]; result: string[] }[]
}
type MatcherCase = {
  session: string
  matcher: MatcherName
  arguments: unknown[]
  /** The arguments are wrong. */
  throws?: true
  passed?: boolean
  isUndecided?: true
  message?: string
  stepId?: string
}

type Judgement = {
  runs: FinishedRun[]
  planned: number
  options: AgentTestOptions<unknown>
  isBudgetSpent: boolean
  result: unknown
  failure: string | null
}

const file = new URL('golden-cases.json', import.meta.url)
const golden = JSON.parse(readFileSync(file, 'utf8')) as GoldenCases
/** Takes over messages and results. Whether a matcher passes is only ever changed by hand. */
const isWriting = process.env.PLAYHEAD_WRITE_GOLDEN !== undefined

afterAll(() => {
  if (isWriting) writeFileSync(file, `${JSON.stringify(golden, null, 2)}\n`)
})

describe('matchers', () => {
  test.each(golden.matchers.map((one, index) => [index, one.matcher, one.session, one] as const))(
    '%i: %s of %s',
    (_index, matcher, name, one) => {
      const subject = golden.sessions[name]!
      const args = one.arguments.map(decode) as never[]
      if (one.throws === true) {
        expect(() => verdictsOf[matcher](subject, ...args)).toThrow(TypeError)
        return
      }
      const { pass, isUndecided, stepId, message } = verdictsOf[matcher](subject, ...args)
      if (isWriting) Object.assign(one, { message, ...(stepId !== undefined && { stepId }) })
      expect({ passed: pass, isUndecided, stepId, message }).toEqual({
        passed: one.passed,
        isUndecided: one.isUndecided,
        stepId: one.stepId,
        message: one.message,
      })
      for (const isNot of [false, true]) {
        const found = extendedMatchers[matcher].call({ isNot }, subject, ...args)
        expect(found.pass === isNot).toBe(isUndecided === true || pass === isNot)
      }
    },
  )
})

type Encoded = { [kind: string]: unknown }

/** Patterns, types, functions, groups and rules, which JSON does not have. */
function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode)
  if (typeof value !== 'object' || value === null) return value
  const [[kind, given] = ['', undefined]] = Object.entries(value as Encoded)
  const names = given as [string, string]
  switch (kind) {
    case '$pattern':
      return new RegExp(String(given))
    case '$any':
      return expect.any({ string: String, number: Number, boolean: Boolean }[String(given)])
    case '$check':
      return checks[String(given)]
    case '$anyOrder':
      return anyOrder((given as unknown[]).map(decode) as never)
    case '$before':
      return before(...names)
    case '$directlyBefore':
      return directlyBefore(...names)
    case '$neverBoth':
      return neverBoth(...names)
    default:
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, decode(item)]))
  }
}

const checks: Record<string, (value: unknown) => boolean> = {
  always: () => true,
  never: () => false,
  isText: (value) => typeof value === 'string',
}

const statistics = {
  wilson: (passed: number, total: number, confidence: number) => wilson(passed, total, confidence),
  judgeShare: (passed: number, total: number, min: number, confidence: number) =>
    judgeShare({ passed, total }, { min, confidence }),
  judgeSequence: (passed: number, failed: number, options: object) =>
    judgeSequence({ passed, failed }, options),
  passAtK: (inputs: [number, number][], k: number) => orNull(passAtK(toTries(inputs), k)),
  passHatK: (inputs: [number, number][], k: number) => orNull(passHatK(toTries(inputs), k)),
}

function toTries(inputs: [number, number][]) {
  return inputs.map(([passed, total]) => ({ passed, total }))
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

test('statistics', () => {
  for (const one of golden.statistics) {
    const result = (statistics[one.function] as (...args: never[]) => unknown)(...one.arguments)
    if (isWriting) one.result = result
    expect(result).toEqual(one.result)
  }
})

test('variations', () => {
  for (const one of golden.variations) {
    const made = variations(one.text, { seed: one.seed })
    for (const [rule, ...args] of one.rules)
      (made as unknown as Record<string, (...args: unknown[]) => void>)[rule]!(...args)
    if (isWriting) one.result = [...made]
    expect([...made]).toEqual(one.result)
  }
})

test('judgements', () => {
  for (const one of golden.judgements) {
    const { runs, planned, options, isBudgetSpent } = one
    const { result, failure } = judgeRuns({ name: 'any words' }, runs, { planned, options, isBudgetSpent })
    if (isWriting) Object.assign(one, { result, failure: failure?.message ?? null })
    expect({ result, failure: failure?.message ?? null }).toEqual({
      result: one.result,
      failure: one.failure,
    })
  }
})
