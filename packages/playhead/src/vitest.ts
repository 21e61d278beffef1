import { flush, type SessionView } from 'playhead'
import { expect as vitestExpect, test as vitestTest, vi, type ExpectStatic, type TestAPI } from 'vitest'
import type { CassetteOption } from './testing/cassettes/cassette-option.ts'
import { extendedMatchers, type SessionExpectation } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { loadConfigsWith } from './testing/runs/run-agent.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { captureDefinition } from './testing/runs/test-location.ts'
import { joinTestRun } from './testing/runs/test-run.ts'
import {
  identityOf,
  recordVitestTest,
  testFileOf,
  wrapTestApi,
  type VitestTask,
} from './testing/runs/vitest-session.ts'
import { requireTest, type SessionSubject } from '@playhead/model'

export * from './testing.ts'

joinTestRun()
loadConfigsWith((file) => vi.importActual(file))
vitestExpect.extend(extendedMatchers as never)

declare module 'vitest' {
  interface TestOptions {
    /** Answers the test from a file, and records what the file lacks. */
    cassette?: CassetteOption | undefined
  }
}

export type SessionExpect = {
  (session: SessionSubject, message?: string): SessionExpectation
  soft(session: SessionSubject, message?: string): SessionExpectation
} & ExpectStatic

/** vitest's `expect` with the matchers for sessions. */
export const expect: SessionExpect = vitestExpect as SessionExpect

const FLUSH_TIMEOUT_MS = 5_000

const recorded = vitestTest.extend<{ session: SessionView; playheadDelivery: undefined }>({
  session: [
    async ({ task }, use) => {
      await recordVitestTest(task, use)
    },
    { auto: true },
  ],
  playheadDelivery: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      await use(undefined)
      await flush({ timeoutMs: FLUSH_TIMEOUT_MS })
    },
    { auto: true, scope: 'file' },
  ],
})

const modes = { run: vitestTest, only: vitestTest.only, skip: vitestTest.skip }

const agent = makeAgentTest(
  (mode) =>
    function define(name, options, body) {
      requireTest(name, body)
      const plan = planAgentTest(options, captureDefinition(define))
      modes[mode](name, { timeout: plan.timeoutMs }, async ({ task }) => {
        const known = task as unknown as VitestTask
        await runAgentTest(identityOf(known), plan, body, testFileOf(known))
        await flush({ timeoutMs: FLUSH_TIMEOUT_MS })
      })
    },
)

export type SessionTest = TestAPI<{ session: SessionView }> & {
  /** A test with many inputs and runs. Each run is a session of its own; all runs are judged together. */
  agent: AgentTest
}

/**
 * vitest's `test` that records every test as a session, tagged with the test's name.
 *
 * @example
 * test("answers a billing question from customer data", async ({ session }) => {
 *   await runSupportAgent("I was charged twice for my subscription")
 *   expect(session).toHaveCalled("fetch_customer_data")
 * })
 */
export const test: SessionTest = Object.assign(wrapTestApi(recorded as never) as SessionTest, { agent })
