import { relative } from 'node:path'
import {
  after,
  test as nodeTest,
  type TestContext as NodeTestContext,
  type TestOptions as NodeTestOptions,
} from 'node:test'
import * as runner from 'node:test'
import {
  requireOptions,
  requireTest,
  testTitle,
  type SessionSubject,
  type TestIdentity,
} from '@playhead/model'
import { flush, type SessionView } from 'playhead'
import { takeCassetteOption, type CassetteOption } from './testing/cassettes/cassette-option.ts'
import { expectSession, verdictsOf, type MatcherName } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { recordPlainTest } from './testing/runs/record-plain-test.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { captureDefinition } from './testing/runs/test-location.ts'
import { joinTestRun } from './testing/runs/test-run.ts'

export * from './testing.ts'

const FLUSH_TIMEOUT_MS = 5_000

joinTestRun()
after(async () => void (await flush({ timeoutMs: FLUSH_TIMEOUT_MS })))
for (const name of Object.keys(verdictsOf) as MatcherName[])
  // Not a named import: in a Node that is too old, it would fail before we can say so.
  runner.assert.register(name, (...[session, ...args]: unknown[]) => {
    ;(expectSession(session as SessionSubject)[name] as (...given: unknown[]) => void)(...args)
  })

/** `expect` for sessions; use `node:assert` for anything else. */
export const expect = expectSession

export type TestContext = { session: SessionView; t: NodeTestContext; signal: AbortSignal }
type Body = (context: TestContext) => unknown

export type TestOptions = NodeTestOptions & {
  /** Answers the test from a file, and records what the file lacks. */
  cassette?: CassetteOption | undefined
}
type Define = {
  (name: string, body: Body): void
  (name: string, options: TestOptions, body: Body): void
}

export type SessionTest = Define & {
  only: Define
  skip: Define
  todo: Define
  /** A test with many inputs and runs. Each run is a session of its own; all runs are judged together. */
  agent: AgentTest
}

type Runner = (name: string, options: NodeTestOptions, body: (t: NodeTestContext) => Promise<void>) => unknown

function define(runner: Runner): Define {
  return function defineTest(name: string, given: TestOptions | Body, body?: Body) {
    const definedAt = captureDefinition(defineTest)
    const [all, run]: [TestOptions, Body] =
      typeof given === 'function' ? [{}, given] : [requireOptions(given), body!]
    const { cassette: settings, rest: options } = takeCassetteOption(all)
    requireTest(name, run)
    void runner(name, options, async (t) => {
      const ended = new AbortController()
      // `after` always runs, and a timeout is reported nowhere else.
      t.after(() => ended.abort(new Error('The test timed out.')))
      // The runner's own timer does not keep the process alive.
      const timer = setTimeout(() => undefined, options.timeout ?? 0)
      t.after(() => clearTimeout(timer))
      const inSession = (session: SessionView) => run({ session, t, signal: t.signal })
      const identity = identify(t)
      const cassette = settings && { settings, testFile: t.filePath ?? '', title: testTitle(identity) }
      const attempt = { ...identity, attempt: 1, definedAt, ...(cassette && { cassette }) }
      await recordPlainTest(attempt, inSession, { signal: ended.signal })
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

const modes = { run: nodeTest, only: nodeTest.only, skip: nodeTest.skip }

const agent = makeAgentTest(
  (mode) =>
    function defineAgent(name, options, body) {
      requireTest(name, body)
      const plan = planAgentTest(options, captureDefinition(defineAgent))
      void modes[mode](name, { timeout: plan.timeoutMs }, async (t) => {
        await runAgentTest(identify(t), plan, body, t.filePath)
      })
    },
)

/**
 * The `test` of `node:test` that records every test as a session, tagged with the test's name.
 *
 * @example
 * test("answers a billing question from customer data", async ({ session }) => {
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
