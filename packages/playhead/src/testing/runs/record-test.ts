import { AsyncLocalStorage } from 'node:async_hooks'
import {
  safeForLog,
  testTitle,
  visibleText,
  type TestIdentity,
  type TestLocation,
  diagnoseSession,
  namedSuspects,
} from '@playhead/model'
import * as playhead from 'playhead'
import type { SessionView } from 'playhead'
import type { CassetteTest } from '../cassettes/run-with-cassette.ts'
import { takeFailingStep } from '../matchers/matchers.ts'
import { replayLink } from '../sessions/replay-link.ts'
import { describeDivergenceFromLastPass } from './divergence.ts'
import { locateDefinition } from './test-location.ts'
import { joinTestRun, saveResult } from './test-run.ts'

export type TestAttempt = TestIdentity & {
  /** Counted from 1, across retries and repetitions. */
  attempt: number
  variant?: string
  /** Where the test stands, or the stack above the call that defined it. */
  definedAt?: TestLocation | string
  cassette?: CassetteTest
  /** The caller prints the link to the replay. */
  isLinkPrinted?: boolean
}

/** Why a test failed: the error it threw, or the one the runner reports. */
export type TestFailure = { error: unknown }

/** Runs a function inside the session of a test, from any async context. */
export type SessionScope = <Result>(callback: () => Result) => Result

/**
 * Records one attempt of a test as a session. `run` executes the test and returns its failure, if any; the scope is for
 * runners that call the test from another async context. Returns the step that shows why the test failed, and what was
 * added to its message: where it diverged from its last passing run, and the first suspect.
 */
export async function recordTest(
  attempt: TestAttempt,
  run: (session: SessionView, scope: SessionScope) => Promise<TestFailure | undefined>,
): Promise<{ stepId?: string; notes: string[] }> {
  const { id: runId } = joinTestRun()
  const { file, suite, name, variant } = attempt
  const fullName = testTitle(attempt)
  const startedAtMs = Date.now()
  let view: SessionView | undefined
  let failure: TestFailure | undefined
  const options: playhead.SessionOptions = {
    name: fullName,
    tags: ['test', fullName],
    test: {
      name,
      runId,
      attempt: attempt.attempt,
      ...(file !== undefined && { file }),
      ...(suite !== undefined && { suite }),
      ...(variant !== undefined && { variant }),
    },
  }
  await playhead
    .withSession(options, async (session) => {
      view = session
      const runTest = () => run(session, AsyncLocalStorage.snapshot())
      failure = await (attempt.cassette === undefined
        ? runTest()
        : runOnCassette(attempt.cassette, session, runTest))
      if (failure !== undefined) throw toThrown(failure.error)
    })
    .catch((error: unknown) => {
      // The runner reports what the test threw; anything else is our own error.
      if (failure === undefined) throw error
    })
  const durationMs = Date.now() - startedAtMs
  const notes = failure === undefined ? [] : await describeFailure(attempt, view!)
  for (const note of notes) addToMessage(failure?.error, note)
  return { ...saveAttempt(attempt, { session: view!, failure, durationMs }), notes }
}

async function describeFailure(attempt: TestAttempt, session: SessionView): Promise<string[]> {
  const divergence = await describeDivergenceFromLastPass(attempt, session)
  return [divergence, describeFirstSuspect(session)].filter((note) => note !== undefined)
}

async function runOnCassette(
  cassette: CassetteTest,
  session: SessionView,
  run: () => Promise<TestFailure | undefined>,
): Promise<TestFailure | undefined> {
  const { runWithCassette } = await import('../cassettes/run-with-cassette.ts')
  return runWithCassette(cassette, session, run)
}

/** Runs the function of a test. One whose cassette had no answer fails, whatever the agent made of that. */
export async function runBody<Result>(
  { cassette }: TestAttempt,
  session: SessionView,
  body: () => Result,
): Promise<Awaited<Result>> {
  if (cassette === undefined) return await body()
  const { failOnMiss } = await import('../cassettes/run-with-cassette.ts')
  return failOnMiss(session, body)
}

/** Appends a line to an error's message, if it has one that can be changed. */
export function addToMessage(error: unknown, line: string): void {
  const changeable = error as { message?: unknown } | null | undefined
  if (typeof changeable?.message !== 'string' || changeable.message.includes(line)) return
  try {
    changeable.message += `\n\n${line}`
  } catch {
    // The error is frozen.
  }
}

function saveAttempt(
  { file, suite, name, attempt, variant, isLinkPrinted, definedAt }: TestAttempt,
  {
    session,
    failure,
    durationMs,
  }: { session: SessionView; failure: TestFailure | undefined; durationMs: number },
): { stepId?: string } {
  const message = failure === undefined ? undefined : plainMessage(failure.error)
  const failingStep = takeFailingStep(session.id)
  const stepId = failure === undefined ? undefined : failingStep
  const test = { name, ...(file !== undefined && { file }), ...(suite !== undefined && { suite }) }
  const location = typeof definedAt === 'string' ? locateDefinition(definedAt, file) : definedAt
  saveResult({
    kind: 'attempt',
    test,
    attempt,
    sessionId: session.id,
    isPassed: failure === undefined,
    durationMs,
    url: session.url,
    ...(variant !== undefined && { variant }),
    ...(message !== undefined && { message }),
    ...(stepId !== undefined && { stepId }),
    ...(location !== undefined && { location }),
  })
  if (message !== undefined && isLinkPrinted !== true)
    printReplayLink(testTitle(test), message, replayLink(session, stepId))
  return stepId === undefined ? {} : { stepId }
}

/** Prints the link to the replay, unless the message of a failed matcher already contains it. */
function printReplayLink(name: string, message: string, link: string): void {
  if (link === '' || message.includes(link)) return
  process.stderr.write(`playhead: ${safeForLog(`${visibleText(name)} failed. Replay: ${link}`)}\n`)
}

/**
 * The error that ends the session. Usually the original one, so that it stays attributed to the step that threw it. For an
 * assertion with a diff, a new error with only the first paragraph, which becomes the session's end reason.
 */
function toThrown(error: unknown): unknown {
  const { name, message, stack } = (error ?? {}) as Partial<Error>
  const isDiff = typeof message === 'string' && message.includes('\n\n')
  if (typeof message !== 'string' || (error instanceof Error && !isDiff)) return error
  const thrown = new Error(plainText(message).split('\n\n', 1)[0]!.trim())
  thrown.name = isDiff ? 'AssertionError' : (name ?? 'Error')
  if (stack !== undefined) thrown.stack = stack
  return thrown
}

// oxlint-disable-next-line no-control-regex
const colours = /\u001B\[[0-9;]*m/g

export function plainText(text: string): string {
  return text.replaceAll(colours, '')
}

/** Error names that add nothing to the message. */
const commonNames = /^(?:Error|.*Assertion.*|JestExtendError)$/

export function plainMessage(error: unknown): string {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  if (typeof message !== 'string') return plainText(String(error))
  return plainText(typeof name === 'string' && !commonNames.test(name) ? `${name}: ${message}` : message)
}

/**
 * The step that probably made a test fail: "Suspect: search_help was called 5 times …". Undefined if no evidence speaks
 * against a step other than the test itself. Never throws.
 */
function describeFirstSuspect(session: SessionView): string | undefined {
  try {
    const recorded = session.toJSON()
    const test = recorded.steps[0]?.id
    const suspect = namedSuspects(diagnoseSession(recorded)).find(({ stepId }) => stepId !== test)
    return suspect === undefined ? undefined : `Suspect: ${visibleText(suspect.sentence)}`
  } catch {
    return undefined
  }
}
