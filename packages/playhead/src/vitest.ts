import { flush, type SessionView } from 'playhead'
import { expect as vitestExpect, test as vitestTest, type ExpectStatic, type TestAPI } from 'vitest'
import { extendedMatchers, type SessionExpectation } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { joinTestRun } from './testing/runs/test-run.ts'
import { identityOf, recordVitestTest, wrapTestApi, type VitestTask } from './testing/runs/vitest-session.ts'
import type { SessionSubject } from './testing/sessions/session-subject.ts'

export * from './testing.ts'

joinTestRun()
vitestExpect.extend(extendedMatchers as never)

export type SessionExpect = {
  (session: SessionSubject, message?: string): SessionExpectation
  soft(session: SessionSubject, message?: string): SessionExpectation
} & ExpectStatic

/** vitest's `expect`, which knows what sessions can be expected to do. */
export const expect: SessionExpect = vitestExpect as SessionExpect

const FLUSHED_WITHIN_MS = 5_000

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
      await flush({ timeoutMs: FLUSHED_WITHIN_MS })
    },
    { auto: true, scope: 'file' },
  ],
})

const ways = { run: vitestTest, only: vitestTest.only, skip: vitestTest.skip }

const agent = makeAgentTest((way) => (name, options, body) => {
  const plan = planAgentTest(options)
  ways[way](name, { timeout: plan.timeoutMs }, async ({ task }) => {
    await runAgentTest(identityOf(task as unknown as VitestTask), plan, body)
    await flush({ timeoutMs: FLUSHED_WITHIN_MS })
  })
})

export type SessionTest = TestAPI<{ session: SessionView }> & {
  /** One test over many inputs and runs, each a session of its own, judged together. */
  agent: AgentTest
}

/**
 * vitest's `test` with a session for every test: started before it, ended as it ends, tagged with its name.
 *
 * @example
 * test("a billing question is answered from customer data", async ({ session }) => {
 *   await runSupportAgent("I was charged twice for my subscription")
 *   expect(session).toHaveCalled("fetch_customer_data")
 * })
 */
export const test: SessionTest = Object.assign(wrapTestApi(recorded as never) as SessionTest, { agent })
