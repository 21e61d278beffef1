import type { SessionView } from 'playhead'
import { recordTest, runBody, type TestAttempt, type TestFailure } from './record-test.ts'

/** A running test; `abort` ends its session once the runner no longer waits for it. */
type OpenTest = { abort(error: unknown): void; done: Promise<unknown> }

const openTests = new Set<OpenTest>()

export type PlainTestOptions = {
  /** Aborted when the runner stops waiting. */
  signal?: AbortSignal | undefined
}

/** Runs a test function in a session, for runners that call it directly. Rethrows what it throws. */
export async function recordPlainTest(
  attempt: TestAttempt,
  body: (session: SessionView) => unknown,
  { signal }: PlainTestOptions = {},
): Promise<unknown> {
  let result: unknown
  const aborted = Promise.withResolvers<TestFailure>()
  const failed: { failure?: TestFailure } = {}
  const done = recordTest(attempt, async (session) => {
    const failure = await Promise.race([
      aborted.promise,
      (async (): Promise<TestFailure | undefined> => {
        try {
          result = await runBody(attempt, session, () => body(session))
          return undefined
        } catch (error) {
          return { error }
        }
      })(),
    ])
    if (failure !== undefined) failed.failure = failure
    return failure
  })
  const test: OpenTest = { abort: (error) => aborted.resolve({ error }), done }
  const onAbort = () => test.abort(signal?.reason ?? new Error('The test was aborted.'))
  signal?.addEventListener('abort', onAbort, { once: true })
  openTests.add(test)
  try {
    await done
  } finally {
    openTests.delete(test)
    signal?.removeEventListener('abort', onAbort)
  }
  if (failed.failure !== undefined) throw failed.failure.error
  return result
}

/** Ends the sessions of tests that the runner has given up on. */
export async function abortOpenTests(reason: string): Promise<void> {
  for (const test of openTests) {
    const error = new Error(reason)
    error.name = 'TimeoutError'
    test.abort(error)
    await test.done
  }
}
