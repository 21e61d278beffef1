import { AsyncLocalStorage } from 'node:async_hooks'
import { visibleText, type TestIdentity } from '@playhead/model'
import * as playhead from 'playhead'
import type { SessionView } from 'playhead'
import { takeFailingStep } from '../matchers/matchers.ts'
import { replayLink } from '../sessions/replay-link.ts'
import { describeFromLastPass } from './divergence.ts'
import { joinTestRun, noteResult } from './test-run.ts'

export type TestAttempt = TestIdentity & {
  /** From 1; retries and repetitions count on. */
  attempt: number
  variant?: string
  /** Whoever runs it tells where the replay is. */
  isToldElsewhere?: boolean
}

/** Why a test failed: what was thrown, or what the runner says. */
export type TestFailure = { error: unknown }

/** Runs code inside the session of a test, wherever it is called from. */
export type SessionScope = <Result>(callback: () => Result) => Result

/**
 * Records one attempt of a test as a session of its own. `run` is over when the test is, and says what it came to:
 * undefined when it passed. It is given the session and a scope, for runners that call the test from somewhere else. The
 * answer is the step that shows why it failed, where one does, and where it parted from the last run that passed, where
 * a server knows one.
 */
export async function recordTest(
  attempt: TestAttempt,
  run: (session: SessionView, scope: SessionScope) => Promise<TestFailure | undefined>,
): Promise<{ stepId?: string; parted?: string }> {
  const { id: runId } = joinTestRun()
  const { file, suite, name, variant } = attempt
  const fullName = suite === undefined ? name : `${suite} > ${name}`
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
      failure = await run(session, AsyncLocalStorage.snapshot())
      if (failure !== undefined) throw toThrown(failure.error)
    })
    .catch((error: unknown) => {
      // What the test threw is the runner's to report; anything else is ours.
      if (failure === undefined) throw error
    })
  const durationMs = Date.now() - startedAtMs
  const parted = failure === undefined ? undefined : await describeFromLastPass(attempt, view!)
  if (parted !== undefined) addToMessage(failure?.error, parted)
  const noted = noteAttempt(attempt, { session: view!, failure, durationMs })
  return parted === undefined ? noted : { ...noted, parted }
}

/** Says more in the message of an error, as far as it is one that can be changed. */
export function addToMessage(error: unknown, line: string): void {
  const said = error as { message?: unknown } | null | undefined
  if (typeof said?.message !== 'string' || said.message.includes(line)) return
  try {
    said.message += `\n\n${line}`
  } catch {
    // A frozen error keeps its words.
  }
}

function noteAttempt(
  { file, suite, name, attempt, variant, isToldElsewhere }: TestAttempt,
  {
    session,
    failure,
    durationMs,
  }: { session: SessionView; failure: TestFailure | undefined; durationMs: number },
): { stepId?: string } {
  const message = failure === undefined ? undefined : plainMessage(failure.error)
  const noted = takeFailingStep(session.id)
  const stepId = failure === undefined ? undefined : noted
  noteResult({
    kind: 'attempt',
    test: { name, ...(file !== undefined && { file }), ...(suite !== undefined && { suite }) },
    attempt,
    sessionId: session.id,
    isPassed: failure === undefined,
    durationMs,
    url: session.url,
    ...(variant !== undefined && { variant }),
    ...(message !== undefined && { message }),
    ...(stepId !== undefined && { stepId }),
  })
  if (message !== undefined && isToldElsewhere !== true)
    tellReplay(suite === undefined ? name : `${suite} > ${name}`, message, replayLink(session, stepId))
  return stepId === undefined ? {} : { stepId }
}

/** A failed expectation of a session says where its replay is; other errors don't, and neither does the runner. */
function tellReplay(name: string, message: string, link: string): void {
  if (link === '' || message.includes(link)) return
  process.stderr.write(`playhead: ${visibleText(name)} failed. Replay: ${link}\n`)
}

/**
 * The error object itself where there is one, so that the step that threw it stays its owner. Of an assertion, whose message
 * is a whole diff, the first paragraph: it becomes the reason that the session ended for.
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

/** Names that say no more than that something was thrown or expected. */
const commonNames = /^(?:Error|.*Assertion.*|JestExtendError)$/

export function plainMessage(error: unknown): string {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown }
  if (typeof message !== 'string') return plainText(String(error))
  return plainText(typeof name === 'string' && !commonNames.test(name) ? `${name}: ${message}` : message)
}
