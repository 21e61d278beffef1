import type { TestIdentity } from '@playhead/model'
import type { SessionView } from 'playhead'
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

type AnyFunction = (...args: unknown[]) => unknown
type Context = { session?: SessionView }

/** Members whose functions run inside the session of the test; their first argument is its context. */
const hooks = new Set(['beforeEach', 'afterEach'])
/** Members that are test functions themselves, or make one when called. */
const chained = new Set(['only', 'skip', 'todo', 'concurrent', 'sequential', 'fails'])
const makers = new Set(['skipIf', 'runIf', 'extend', 'override', 'scoped'])

/**
 * vitest calls a test from elsewhere than its fixtures, so that the session that a fixture began is not around the test.
 * This gives a `test` whose functions run inside it.
 */
export function wrapTestApi<Api extends AnyFunction>(api: Api): Api {
  return new Proxy(api, {
    apply: (target, self, args: unknown[]) =>
      Reflect.apply(
        target,
        self,
        args.map((arg, index) => (index > 0 ? wrapBody(arg, 0) : arg)),
      ),
    get(target, key, receiver) {
      const member: unknown = Reflect.get(target, key, receiver)
      if (typeof key !== 'string' || typeof member !== 'function') return member
      return wrapMember(target, key, member as AnyFunction)
    },
  })
}

function wrapMember(api: AnyFunction, key: string, member: AnyFunction): unknown {
  const bound = member.bind(api)
  if (chained.has(key)) return wrapTestApi(member)
  if (makers.has(key)) return (...args: unknown[]) => wrapTestApi(bound(...args) as AnyFunction)
  if (hooks.has(key)) return (fn: unknown, ...rest: unknown[]) => bound(wrapBody(fn, 0), ...rest)
  if (key === 'for')
    return (...args: unknown[]) => {
      const define = bound(...args) as AnyFunction
      return (...given: unknown[]) =>
        define(...given.map((arg, index) => (index > 0 ? wrapBody(arg, 1) : arg)))
    }
  if (key === 'each') return wrapEach(api, bound)
  return member
}

/** `each` gives its functions no context: it is written with `for`, which does. */
function wrapEach(api: AnyFunction, each: AnyFunction): AnyFunction {
  return (...cases: unknown[]) => {
    const [list] = cases
    if (!Array.isArray(list) || 'raw' in list) return each(...cases)
    const makeFor = (api as unknown as { for: AnyFunction }).for.bind(api)
    const define = makeFor(list) as AnyFunction
    return (...given: unknown[]) => define(...given.map((arg, index) => (index > 0 ? spreadBody(arg) : arg)))
  }
}

function spreadBody(body: unknown): unknown {
  if (typeof body !== 'function') return body
  const fn = body as AnyFunction
  const wrapped = (item: unknown, context: Context) =>
    runInSession(context.session, () => (Array.isArray(item) ? fn(...(item as unknown[])) : fn(item)))
  return named(wrapped, fn, '(item, { session }) => {}')
}

function wrapBody(body: unknown, contextIndex: number): unknown {
  if (typeof body !== 'function') return body
  const fn = body as AnyFunction
  const wrapped = (...args: unknown[]) =>
    runInSession((args[contextIndex] as Context | undefined)?.session, () => fn(...args))
  return named(wrapped, fn, fn.toString())
}

/** vitest reads from a function's source which fixtures it wants. */
function named(wrapped: unknown, original: AnyFunction, source: string): unknown {
  return Object.defineProperties(wrapped as AnyFunction, {
    toString: { value: () => source },
    name: { value: original.name },
    length: { value: original.length },
  })
}
