import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AssertionError } from 'node:assert'
import * as playhead from 'playhead'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as kit from '../../src/testing.ts'
import { verdictsOf, type MatcherName } from '../../src/testing/matchers/matchers.ts'
import { planAgentTest } from '../../src/testing/runs/run-agent-test.ts'
import { requireTest } from '@playhead/model'
import { runBilling } from '../testing/sample-session.ts'
import { hostError, hostileArguments, hostileOptions, hostileValue, type Make } from './hostile-values.ts'

const CALLS = 500

let session: playhead.SessionView
let folder: string

beforeAll(async () => {
  // Nothing listens there.
  vi.stubEnv('PLAYHEAD_ENDPOINT', 'http://127.0.0.1:9')
  folder = await mkdtemp(join(tmpdir(), 'playhead-kit-'))
  playhead.init({ endpoint: false, silent: true, capture: false })
  session = await playhead.withSession({ name: 'billing' }, async (view) => {
    await runBilling()
    return view
  })
})
afterAll(async () => {
  await playhead.shutdown()
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

/** The options of every function and matcher, and what calls, rules and sessions consist of. */
const names =
  `args times agent mode ignore defaults tool steps anyOrder exact inOrder usd tokens llmCalls perTool allowHandled
max allow text findViolation seed rate count endpoint apiKey inputs repeat passRate min confidence inconclusive concurrency
budget timeout stop p0 p1 alpha beta session id kind name parentId error
atLeast value comment stepId`.split(/\s+/)

const known: fc.Arbitrary<Make> = fc
  .constantFrom<unknown>('issue_refund', 'researcher', 'exact', 'sprt', '8s', 0, 1, 2.5, null, [], {})
  .map((value) => () => value)
const options = hostileOptions(names)
const calls = fc
  .array(fc.oneof(known, options, hostileValue), { maxLength: 3 })
  .map((made) => () => made.map((make) => make()))
const likely = fc
  .tuple(fc.oneof(known, options, calls, hostileValue), fc.oneof(options, calls, hostileValue))
  .map(([first, second]) => () => [first(), second()])
const anyArguments: fc.Arbitrary<Make<unknown[]>> = fc.oneof(hostileArguments, likely)

type Call = (...args: never[]) => unknown

const { openRecording, fetchSession, Variations, variations, expectSession, runAgent, ...others } = kit
const rules = {
  before: others.before,
  directlyBefore: others.directlyBefore,
  neverBoth: others.neverBoth,
  anyOrder: others.anyOrder,
}
const checks = {
  called: others.called,
  calledInOrder: others.calledInOrder,
  costsLessThan: others.costsLessThan,
  finishesWithin: others.finishesWithin,
  hasEffects: others.hasEffects,
  hasNoErrors: others.hasNoErrors,
  hasNoLoops: others.hasNoLoops,
  matchesTrajectory: others.matchesTrajectory,
  nullArguments: others.nullArguments,
  satisfiesOrder: others.satisfiesOrder,
}

test('every public function is called below', () => {
  const called = [
    ...Object.keys(rules),
    ...Object.keys(checks),
    'openRecording',
    'fetchSession',
    'Variations',
    'variations',
    'expectSession',
    'runAgent',
    'judged',
  ]
  expect(called.toSorted()).toEqual(Object.keys(kit).toSorted())
})

test.each(Object.entries<Call>({ ...rules, variations }))('%s explains wrong arguments', async (_, call) => {
  expect(await findUnexplained(anyArguments, (make) => call(...(make() as never[])))).toEqual([])
})

test.each(Object.entries<Call>(checks))('%s explains wrong arguments', async (_, check) => {
  const unexplained = [
    await findUnexplained(anyArguments, (make) => check(...([session, ...make()] as never[]))),
    await findUnexplained(anyArguments, (make) => check(...(make() as never[]))),
  ]
  expect(unexplained.flat()).toEqual([])
})

test.each(Object.keys(verdictsOf) as MatcherName[])('%s explains wrong arguments', async (name) => {
  const matcherOf = (subject: unknown): Call => expectSession(subject as playhead.SessionView)[name]
  const oppositeOf = (subject: unknown): Call => expectSession(subject as playhead.SessionView).not[name]
  const unexplained = [
    await findUnexplained(anyArguments, (make) => matcherOf(session)(...(make() as never[]))),
    await findUnexplained(anyArguments, (make) => oppositeOf(session)(...(make() as never[]))),
    await findUnexplained(hostileValue, (make) => matcherOf(make())()),
  ]
  expect(unexplained.flat()).toEqual([])
})

test('judged and toBeJudged explain wrong arguments', async () => {
  // A judge is the user's own: what it throws is not ours.
  const judgesOf = (make: Make<unknown[]>) =>
    make().map((value) => (typeof value === 'function' ? () => 0.5 : value)) as never[]
  const judged: Call = others.judged
  const matcher: Call = expectSession(session).toBeJudged
  const opposite: Call = expectSession(session).not.toBeJudged
  const unexplained = [
    await findUnexplained(anyArguments, (make) => judged(session as never, ...judgesOf(make))),
    await findUnexplained(anyArguments, (make) => judged(...judgesOf(make))),
    await findUnexplained(anyArguments, (make) => matcher(...judgesOf(make))),
    await findUnexplained(anyArguments, (make) => opposite(...judgesOf(make))),
  ]
  expect(unexplained.flat()).toEqual([])
})

const variationMethods =
  'typos changeCase punctuation caseAndPunctuation reorderSentences distractor unicode paraphrases'

test.each(variationMethods.split(' '))('variations().%s explains wrong arguments', async (method) => {
  const unexplained = [
    await findUnexplained(anyArguments, (make) => {
      const made = new Variations('I was charged twice. Please help!', 1)
      const vary = made[method as 'typos'] as (...args: unknown[]) => Iterable<string>
      return [...vary.call(made, ...make())]
    }),
    await findUnexplained(anyArguments, (make) => new Variations(...(make() as [string, number]))),
  ]
  expect(unexplained.flat()).toEqual([])
})

test('runAgent explains what it can not run', async () => {
  const run = (make: Make<unknown[]>) => runAgent(...(make() as [string, string]))
  // This one ends with what to write, which is no sentence.
  const isExplained = (message: string) => message.startsWith('There is no playhead.config.ts in ')
  const unexplained = await findUnexplained(anyArguments, run)
  expect(unexplained.filter((message) => !isExplained(message))).toEqual([])
})

test('openRecording explains what it can not open', async () => {
  const open = (make: Make<unknown[]>) => openRecording(...(make().map(inFolder) as [string]))
  expect(await findUnexplained(anyArguments, open)).toEqual([])
})

test('fetchSession explains what it can not fetch', async () => {
  const fetchAny = (make: Make<unknown[]>) => fetchSession(...(make() as [string]))
  expect(await findUnexplained(anyArguments, fetchAny)).toEqual([])
})

test('test.agent explains wrong options', async () => {
  const unexplained = [
    await findUnexplained(fc.oneof(options, hostileValue), (make) => planAgentTest(make() as object, '')),
    await findUnexplained(anyArguments, (make) => requireTest(...(make() as [string, unknown]))),
  ]
  expect(unexplained.flat()).toEqual([])
})

/** Texts name files that don't exist. */
function inFolder(value: unknown): unknown {
  return typeof value === 'string' ? join(folder, value.slice(0, 100)) : value
}

/** The messages that are no sentence. A failed check has one, and what the test's own values throw is not ours. */
async function findUnexplained<Value>(
  arbitrary: fc.Arbitrary<Value>,
  call: (value: Value) => unknown,
): Promise<string[]> {
  const found = new Set<string>()
  const property = fc.asyncProperty(arbitrary, async (value) => {
    try {
      const result = call(value)
      if (result instanceof Promise) await result
    } catch (error) {
      const { message } = error as Error
      // An engine's own messages have no period, or begin with "Cannot".
      const isSentence = message.endsWith('.') && !message.startsWith('Cannot')
      if (!(error instanceof AssertionError || isOfTheHost(error) || isSentence)) found.add(message)
    }
  })
  await fc.assert(property, { numRuns: CALLS, seed: 15 })
  return [...found]
}

function isOfTheHost(error: unknown): boolean {
  return (
    error === hostError || /a trap that must not|revoked|Class constructor/.test((error as Error).message)
  )
}
