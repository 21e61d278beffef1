import type { SessionView } from 'playhead'
import type { TestIdentity } from '@playhead/model'
import { addToMessage, recordTest, type SessionScope, type TestFailure } from './record-test.ts'

/** What we read of a test of vitest, in all the majors that we know. */
export type VitestTask = {
  name: string
  fails?: boolean | undefined
  suite?: { name: string; suite?: VitestSuite | undefined } | undefined
  file: { name: string; filepath?: string }
  result?: { state?: string; errors?: readonly { name?: string; message?: string }[] | undefined } | undefined
}
type VitestSuite = NonNullable<VitestTask['suite']>

const scopes = new WeakMap<SessionView, SessionScope>()
const thrown = new WeakMap<SessionView, TestFailure>()
const attempts = new WeakMap<VitestTask, number>()

/** The fixture: a session for one attempt of one test, from before its hooks to after them. */
export async function recordVitestTest(
  task: VitestTask,
  use: (session: SessionView) => Promise<void>,
): Promise<void> {
  const attempt = (attempts.get(task) ?? 0) + 1
  attempts.set(task, attempt)
  const errorsBefore = task.result?.errors?.length ?? 0
  const { parted } = await recordTest({ ...identityOf(task), attempt }, async (session, scope) => {
    scopes.set(session, scope)
    await use(session)
    return failureOf(task, session, errorsBefore)
  })
  // What the runner reports is its own copy of the error.
  if (parted !== undefined) addToMessage(task.result?.errors?.[errorsBefore], parted)
}

export function identityOf(task: VitestTask): TestIdentity {
  const suites: string[] = []
  for (let { suite } = task; suite !== undefined && suite.name !== ''; suite = suite.suite as VitestSuite)
    suites.unshift(suite.name)
  const suite = suites.join(' > ')
  return { file: task.file.name, ...(suite !== '' && { suite }), name: task.name }
}

/** Runs the test's function inside its session, and remembers what it throws. */
export function runInSession(session: SessionView | undefined, fn: () => unknown): unknown {
  const scope = session === undefined ? undefined : scopes.get(session)
  if (session === undefined || scope === undefined) return fn()
  const fail = (error: unknown): never => {
    thrown.set(session, { error })
    throw error
  }
  return scope(() => {
    try {
      const result = fn()
      return isPromise(result) ? result.then(undefined, fail) : result
    } catch (error) {
      return fail(error)
    }
  })
}

/** The runner has the last word: a test may fail in its hooks or by taking too long, and may be meant to fail. */
function failureOf(task: VitestTask, session: SessionView, errorsBefore: number): TestFailure | undefined {
  const { state, errors = [] } = task.result ?? {}
  const isFailed = state === 'fail'
  if (isFailed === (task.fails === true)) {
    return task.fails === true && !isFailed
      ? { error: new Error('It was expected to fail, and passed.') }
      : undefined
  }
  const error = errors[errorsBefore] ?? errors.at(-1)
  const own = thrown.get(session)
  return own !== undefined && isSameMessage(own.error, error) ? own : { error: error ?? own?.error }
}

function isSameMessage(one: unknown, other: { message?: string } | undefined): boolean {
  return (one as { message?: unknown } | undefined)?.message === other?.message
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | undefined)?.then === 'function'
}
