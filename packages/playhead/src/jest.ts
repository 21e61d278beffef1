import { relative } from 'node:path'
import { afterAll, afterEach, expect as jestExpect, test as jestTest } from '@jest/globals'
import type { TestIdentity } from '@playhead/model'
import { flush, type SessionView } from 'playhead'
import { extendedMatchers, type SessionExpectation } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { abortOpenTests, recordPlainTest } from './testing/runs/record-plain-test.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { captureDefinition } from './testing/runs/test-location.ts'
import { joinTestRun } from './testing/runs/test-run.ts'
import { requireTest } from './testing/sessions/required-argument.ts'
import type { SessionSubject } from './testing/sessions/session-subject.ts'

export * from './testing.ts'

const FLUSH_TIMEOUT_MS = 5_000

joinTestRun()
jestExpect.extend(extendedMatchers as never)
afterEach(() => abortOpenTests('The test timed out.'))
afterAll(async () => void (await flush({ timeoutMs: FLUSH_TIMEOUT_MS })))

/** jest's `expect` with the matchers for sessions. */
export const expect = jestExpect as unknown as {
  (session: SessionSubject): SessionExpectation
} & typeof jestExpect

export type TestContext = { session: SessionView }
type Body = (context: TestContext) => unknown
type CaseBody = (...args: never[]) => unknown
type Define = (name: string, body: Body, timeoutMs?: number) => void
type DefineEach = (cases: readonly unknown[]) => (name: string, body: CaseBody, timeoutMs?: number) => void

/** jest's `test`; the function receives the session, after the values of `test.each`. */
export type SessionTest = Define & {
  only: Define & { each: DefineEach }
  skip: Define & { each: DefineEach }
  failing: Define
  each: DefineEach
  todo(name: string): void
  /** A test with many inputs and runs. Each run is a session of its own; all runs are judged together. */
  agent: AgentTest
}

const attempts = new Map<string, number>()

/** jest retries a test by calling its function again, so the calls are counted as attempts. */
function identify(name: string): TestIdentity & { attempt: number } {
  const { currentTestName, testPath } = jestExpect.getState()
  const suite = currentTestName?.endsWith(` ${name}`) ? currentTestName.slice(0, -name.length - 1) : undefined
  const key = JSON.stringify([suite, name])
  const attempt = (attempts.get(key) ?? 0) + 1
  attempts.set(key, attempt)
  return {
    name,
    attempt,
    ...(suite !== undefined && { suite }),
    ...(testPath !== undefined && { file: relative(process.cwd(), testPath).replaceAll('\\', '/') }),
  }
}

type JestTest = (name: string, body: () => Promise<unknown>, timeoutMs?: number) => void
type JestEach = (
  cases: readonly unknown[],
) => (name: string, body: (...args: unknown[]) => Promise<unknown>, timeoutMs?: number) => void

function define(test: unknown): Define {
  return function defineTest(name, body, timeoutMs) {
    const definedAt = captureDefinition(defineTest)
    requireTest(name, body)
    // Without parameters: jest would pass a `done` callback to the first.
    const run = () => recordPlainTest({ ...identify(name), definedAt }, (session) => body({ session }))
    ;(test as JestTest)(name, run, timeoutMs)
  }
}

function defineEach(each: unknown): DefineEach {
  return (cases) =>
    function defineTest(name, body, timeoutMs) {
      const definedAt = captureDefinition(defineTest)
      requireTest(name, body)
      const run = (...args: unknown[]) => {
        const identity = identify(jestExpect.getState().currentTestName ?? name)
        return recordPlainTest({ ...identity, definedAt }, (session) =>
          (body as (...given: unknown[]) => unknown)(...args, { session }),
        )
      }
      ;(each as JestEach)(cases)(name, run, timeoutMs)
    }
}

const modes = { run: jestTest, only: jestTest.only, skip: jestTest.skip }

const agent = makeAgentTest(
  (mode) =>
    function defineAgent(name, options, body) {
      requireTest(name, body)
      const plan = planAgentTest(options, captureDefinition(defineAgent))
      const run = async () => {
        const { attempt: _, ...identity } = identify(name)
        await runAgentTest(identity, plan, body)
      }
      modes[mode](name, run, plan.timeoutMs)
    },
)

/**
 * jest's `test` that records every test as a session, tagged with the test's name.
 *
 * @example
 * test("answers a billing question from customer data", async ({ session }) => {
 *   await runSupportAgent("I was charged twice for my subscription")
 *   expect(session).toHaveCalled("fetch_customer_data")
 * })
 */
export const test: SessionTest = Object.assign(define(jestTest), {
  only: Object.assign(define(jestTest.only), { each: defineEach(jestTest.only.each) }),
  skip: Object.assign(define(jestTest.skip), { each: defineEach(jestTest.skip.each) }),
  failing: define(jestTest.failing),
  each: defineEach(jestTest.each),
  todo: (name: string) => jestTest.todo(name),
  agent,
})
