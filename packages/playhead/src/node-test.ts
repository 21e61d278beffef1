import { relative } from 'node:path'
import {
  after,
  assert,
  test as nodeTest,
  type TestContext as NodeTestContext,
  type TestOptions,
} from 'node:test'
import type { TestIdentity } from '@playhead/model'
import { flush, type SessionView } from 'playhead'
import { expectSession, verdictsOf, type MatcherName } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { recordPlainTest } from './testing/runs/record-plain-test.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { joinTestRun } from './testing/runs/test-run.ts'
import type { SessionSubject } from './testing/sessions/session-subject.ts'

export * from './testing.ts'

const FLUSHED_WITHIN_MS = 5_000

joinTestRun()
after(async () => void (await flush({ timeoutMs: FLUSHED_WITHIN_MS })))
for (const name of Object.keys(verdictsOf) as MatcherName[])
  assert.register(name, (...[session, ...args]: unknown[]) => {
    ;(expectSession(session as SessionSubject)[name] as (...given: unknown[]) => void)(...args)
  })

/** What sessions can be expected to do; for anything else, `node:assert`. */
export const expect = expectSession

export type TestContext = { session: SessionView; t: NodeTestContext; signal: AbortSignal }
type Body = (context: TestContext) => unknown
type Define = {
  (name: string, body: Body): void
  (name: string, options: TestOptions, body: Body): void
}

export type SessionTest = Define & {
  only: Define
  skip: Define
  todo: Define
  /** One test over many inputs and runs, each a session of its own, judged together. */
  agent: AgentTest
}

type Runner = (name: string, options: TestOptions, body: (t: NodeTestContext) => Promise<void>) => unknown

function define(runner: Runner): Define {
  return (name: string, given: TestOptions | Body, body?: Body) => {
    const [options, run] = typeof given === 'function' ? [{}, given] : [given, body!]
    void runner(name, options, async (t) => {
      const over = new AbortController()
      // Runs whatever came of the test: one that was not done in time has no other end.
      t.after(() => over.abort(new Error('The test was not done in time.')))
      // The runner's own timer does not keep the process alive until it fires.
      const timer = setTimeout(() => undefined, options.timeout ?? 0)
      t.after(() => clearTimeout(timer))
      const inSession = (session: SessionView) => run({ session, t, signal: t.signal })
      await recordPlainTest({ ...identify(t), attempt: 1 }, inSession, { signal: over.signal })
    })
  }
}

function identify(t: NodeTestContext): TestIdentity {
  const { name, fullName, filePath } = t
  const suite = fullName.endsWith(` > ${name}`) ? fullName.slice(0, -name.length - 3) : undefined
  return {
    name,
    ...(suite !== undefined && { suite }),
    ...(filePath !== undefined && { file: relative(process.cwd(), filePath).replaceAll('\\', '/') }),
  }
}

const ways = { run: nodeTest, only: nodeTest.only, skip: nodeTest.skip }

const agent = makeAgentTest((way) => (name, options, body) => {
  const plan = planAgentTest(options)
  void ways[way](name, { timeout: plan.timeoutMs }, async (t) => {
    await runAgentTest(identify(t), plan, body)
  })
})

/**
 * `node:test`'s test with a session for every test: started before it, ended as it ends, tagged with its name.
 *
 * @example
 * test("a billing question is answered from customer data", async ({ session }) => {
 *   await runSupportAgent("I was charged twice for my subscription")
 *   expect(session).toHaveCalled("fetch_customer_data")
 * })
 */
export const test: SessionTest = Object.assign(define(nodeTest as Runner), {
  only: define(nodeTest.only as Runner),
  skip: define(nodeTest.skip as Runner),
  todo: define(nodeTest.todo as Runner),
  agent,
})
