import type { SessionView } from 'playhead'
import { recordTest, type TestAttempt, type TestFailure } from './record-test.ts'

/** A test under way; `giveUp` ends its session when the runner no longer waits for it. */
type OpenTest = { giveUp(error: unknown): void; isOver: Promise<unknown> }

const open = new Set<OpenTest>()

export type PlainTestOptions = {
  /** Says when the runner stops waiting. */
  signal?: AbortSignal | undefined
}

/** Runs a test's function in a session, for runners that call it themselves; what it throws is thrown. */
export async function recordPlainTest(
  attempt: TestAttempt,
  body: (session: SessionView) => unknown,
  { signal }: PlainTestOptions = {},
): Promise<unknown> {
  let result: unknown
  const late = Promise.withResolvers<TestFailure>()
  const failed: { failure?: TestFailure } = {}
  const over = recordTest(attempt, async (session) => {
    const failure = await Promise.race([
      late.promise,
      (async (): Promise<TestFailure | undefined> => {
        try {
          result = await body(session)
          return undefined
        } catch (error) {
          return { error }
        }
      })(),
    ])
    if (failure !== undefined) failed.failure = failure
    return failure
  })
  const test: OpenTest = { giveUp: (error) => late.resolve({ error }), isOver: over }
  const onAbort = () => test.giveUp(signal?.reason ?? new Error('The test was aborted.'))
  signal?.addEventListener('abort', onAbort, { once: true })
  open.add(test)
  try {
    await over
  } finally {
    open.delete(test)
    signal?.removeEventListener('abort', onAbort)
  }
  if (failed.failure !== undefined) throw failed.failure.error
  return result
}

/** Ends the sessions of tests that the runner has stopped waiting for. */
export async function giveUpOpenTests(why: string): Promise<void> {
  for (const test of open) {
    const error = new Error(why)
    error.name = 'TimeoutError'
    test.giveUp(error)
    await test.isOver
  }
}
