import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, expect as jestExpect, test as jestTest } from '@jest/globals'
import {
  isRecord,
  requireOptions,
  requireTest,
  testTitle,
  type SessionSubject,
  type TestIdentity,
} from '@playhead/model'
import { flush, type SessionView } from 'playhead'
import { activeCapture } from './capture/calls/active-capture.ts'
import {
  cassetteTimeoutMs,
  takeCassetteOption,
  type CassetteOption,
} from './testing/cassettes/cassette-option.ts'
import { extendedMatchers, type SessionExpectation } from './testing/matchers/matchers.ts'
import { makeAgentTest, type AgentTest } from './testing/runs/agent-test.ts'
import { abortOpenTests, recordPlainTest } from './testing/runs/record-plain-test.ts'
import { loadConfigsWith } from './testing/runs/run-agent.ts'
import { planAgentTest, runAgentTest } from './testing/runs/run-agent-test.ts'
import { captureDefinition } from './testing/runs/test-location.ts'
import { joinTestRun } from './testing/runs/test-run.ts'

export * from './testing.ts'

const FLUSH_TIMEOUT_MS = 5_000

joinTestRun()
loadConfigsWith(loadInJest)
jestExpect.extend(extendedMatchers as never)
afterEach(() => abortOpenTests('The test timed out.'))
afterAll(async () => {
  await flush({ timeoutMs: FLUSH_TIMEOUT_MS })
  // The next file has a sandbox of its own, but the same clients outside of it.
  activeCapture()?.uninstall()
})

/** jest's `require` transforms TypeScript; modules that can't be required are imported. */
async function loadInJest(file: string): Promise<unknown> {
  try {
    const loaded: unknown = createRequire(file)(file)
    return isRecord(loaded) && 'default' in loaded ? loaded : { default: loaded }
  } catch (error) {
    const isModule = /import statement|export|ERR_REQUIRE_ESM|Must use import/.test(String(error))
    if (!isModule) throw error
    return import(pathToFileURL(file).href).catch((reason: unknown) => {
      const { code } = reason as NodeJS.ErrnoException
      throw code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG' ? new Error(NO_MODULES) : reason
    })
  }
}

const NO_MODULES =
  'It is an ES module, and jest runs CommonJS here. Let jest compile it (ts-jest, babel-jest), write it as CommonJS ' +
  '(module.exports in playhead.config.js), or run jest with NODE_OPTIONS=--experimental-vm-modules.'

/** jest's `expect` with the matchers for sessions. */
export const expect = jestExpect as unknown as {
  (session: SessionSubject): SessionExpectation
} & typeof jestExpect

export type TestContext = { session: SessionView }
type Body = (context: TestContext) => unknown
type CaseBody = (...args: never[]) => unknown
/** Options that jest does not have. */
export type TestOptions = {
  /** Answers the test from a file, and records what the file lacks. */
  cassette?: CassetteOption | undefined
}
type Define = {
  (name: string, body: Body, timeoutMs?: number): void
  (name: string, options: TestOptions, body: Body, timeoutMs?: number): void
}
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
  return function defineTest(name: string, ...given: unknown[]) {
    const definedAt = captureDefinition(defineTest)
    const hasOptions = typeof given[0] !== 'function'
    const [body, timeoutMs] = (hasOptions ? given.slice(1) : given) as [Body, number | undefined]
    const { cassette } = takeCassetteOption(requireOptions(hasOptions ? (given[0] as TestOptions) : {}))
    requireTest(name, body)
    // Without parameters: jest would pass a `done` callback to the first.
    const run = () => {
      const identity = identify(name)
      const { testPath: testFile = '' } = jestExpect.getState()
      return recordPlainTest(
        {
          ...identity,
          definedAt,
          ...(cassette !== undefined && {
            cassette: { settings: cassette, testFile, title: testTitle(identity) },
          }),
        },
        (session) => body({ session }),
      )
    }
    ;(test as JestTest)(name, run, timeoutMs ?? (cassette && cassetteTimeoutMs(configuredTimeoutMs())))
  }
}

/** Where jest keeps `testTimeout` and what `jest.setTimeout` was given. */
function configuredTimeoutMs(): number | undefined {
  return (globalThis as { [key: symbol]: unknown })[Symbol.for('TEST_TIMEOUT_SYMBOL')] as number | undefined
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
        await runAgentTest(identity, plan, body, jestExpect.getState().testPath)
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
