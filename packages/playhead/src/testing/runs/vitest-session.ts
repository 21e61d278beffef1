import { testTitle, type TestIdentity } from '@playhead/model'
import type { SessionView } from 'playhead'
import { cassetteTimeoutMs, takeCassetteOption, type CassetteSettings } from '../cassettes/cassette-option.ts'
import type { CassetteTest } from '../cassettes/run-with-cassette.ts'
import {
  addToMessage,
  recordTest,
  runBody,
  type SessionScope,
  type TestAttempt,
  type TestFailure,
} from './record-test.ts'
import { captureDefinition } from './test-location.ts'

/** The part of vitest's task that we use; the same in all supported majors. */
export type VitestTask = {
  name: string
  fails?: boolean | undefined
  suite?: { name: string; suite?: VitestSuite | undefined } | undefined
  file: { name: string; filepath?: string }
  meta?: object
  result?: { state?: string; errors?: readonly { name?: string; message?: string }[] | undefined } | undefined
}
type VitestSuite = NonNullable<VitestTask['suite']>

const scopes = new WeakMap<SessionView, SessionScope>()
const running = new WeakMap<SessionView, TestAttempt>()
const thrown = new WeakMap<SessionView, TestFailure>()
const attempts = new WeakMap<VitestTask, number>()

/** The `session` fixture: records one attempt of a test, hooks included. */
export async function recordVitestTest(
  task: VitestTask,
  use: (session: SessionView) => Promise<void>,
): Promise<void> {
  const number = (attempts.get(task) ?? 0) + 1
  attempts.set(task, number)
  const errorsBefore = task.result?.errors?.length ?? 0
  const attempt: TestAttempt = { ...identityOf(task), attempt: number, ...cassetteOf(task) }
  const { notes } = await recordTest(attempt, async (session, scope) => {
    scopes.set(session, scope)
    running.set(session, attempt)
    await use(session)
    return failureOf(task, session, errorsBefore)
  })
  // The runner reports its own copy of the error.
  for (const note of notes) addToMessage(task.result?.errors?.[errorsBefore], note)
}

export function identityOf(task: VitestTask): TestIdentity {
  const suites: string[] = []
  for (let { suite } = task; suite !== undefined && suite.name !== ''; suite = suite.suite as VitestSuite)
    suites.unshift(suite.name)
  const suite = suites.join(' > ')
  return { file: task.file.name, ...(suite !== '' && { suite }), name: task.name }
}

function cassetteOf(task: VitestTask): { cassette?: CassetteTest } {
  const { playheadCassette: settings } = (task.meta ?? {}) as { playheadCassette?: CassetteSettings }
  if (settings === undefined) return {}
  return { cassette: { settings, testFile: testFileOf(task), title: testTitle(identityOf(task)) } }
}

export function testFileOf({ file }: VitestTask): string {
  return file.filepath ?? file.name
}

/** Runs the test function inside its session and remembers what it throws. */
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

/** The runner decides: a test may fail in its hooks or by a timeout, and `test.fails` inverts the result. */
function failureOf(task: VitestTask, session: SessionView, errorsBefore: number): TestFailure | undefined {
  const { state, errors = [] } = task.result ?? {}
  const isFailed = state === 'fail'
  if (isFailed === (task.fails === true)) {
    return task.fails === true && !isFailed
      ? { error: new Error('The test was expected to fail, but it passed.') }
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

/** Members whose callbacks run inside the session; their first argument is the test context. */
const hooks = new Set(['beforeEach', 'afterEach'])
/** Members that are test functions themselves, and members that return one. */
const chained = new Set(['only', 'skip', 'todo', 'concurrent', 'sequential', 'fails'])
const makers = new Set(['skipIf', 'runIf', 'extend', 'override', 'scoped'])

/**
 * vitest calls a test in a different async context than its fixtures, so the session that a fixture starts is not active in
 * the test. This wraps `test` so that its callbacks run inside the session.
 */
export function wrapTestApi<Api extends AnyFunction>(api: Api): Api {
  return new Proxy(api, {
    apply(target, self, args: unknown[]): unknown {
      const wrapped = wrapBodies(args, (body, definedAt) => wrapBody(body, 0, definedAt))
      return Reflect.apply(target, self, wrapped.map(moveCassette))
    },
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
        define(...wrapBodies(given, (body, definedAt) => wrapBody(body, 1, definedAt)).map(moveCassette))
    }
  if (key === 'each') return wrapEach(api, bound)
  return member
}

/** `each` passes no context to its callbacks, so it is implemented with `for`, which does. */
function wrapEach(api: AnyFunction, each: AnyFunction): AnyFunction {
  return (...cases: unknown[]) => {
    const [list] = cases
    if (!Array.isArray(list) || 'raw' in list) return each(...cases)
    const makeFor = (api as unknown as { for: AnyFunction }).for.bind(api)
    const define = makeFor(list) as AnyFunction
    return (...given: unknown[]) => define(...wrapBodies(given, spreadBody).map(moveCassette))
  }
}

/** Wraps the functions among the arguments after the name of a test. */
function wrapBodies(args: unknown[], wrap: (body: unknown, definedAt: string) => unknown): unknown[] {
  const definedAt = captureDefinition(wrapBodies)
  return args.map((arg, index) => (index > 0 ? wrap(arg, definedAt) : arg))
}

/** The runner does not know the option, but keeps what is in `meta` with the task. */
function moveCassette(arg: unknown, index: number): unknown {
  if (index === 0 || typeof arg !== 'object' || arg === null || !('cassette' in arg)) return arg
  const { cassette, rest } = takeCassetteOption(arg as { cassette: unknown; meta?: object })
  if (cassette === undefined) return rest
  const timeout = cassetteTimeoutMs(configuredTimeoutMs())
  const meta = { ...rest.meta, playheadCassette: cassette }
  return { ...(timeout !== undefined && { timeout }), ...rest, meta }
}

function configuredTimeoutMs(): number | undefined {
  const { __vitest_worker__: worker } = globalThis as {
    __vitest_worker__?: { config?: { testTimeout?: number } }
  }
  return worker?.config?.testTimeout
}

function spreadBody(body: unknown, definedAt: string): unknown {
  if (typeof body !== 'function') return body
  const fn = body as AnyFunction
  const wrapped = (item: unknown, { session }: Context) => {
    noteDefinition(session, definedAt)
    const run = () => (Array.isArray(item) ? fn(...(item as unknown[])) : fn(item))
    return runInSession(session, () => runTestBody(session, run))
  }
  return named(wrapped, fn, '(item, { session }) => {}')
}

function wrapBody(body: unknown, contextIndex: number, definedAt?: string): unknown {
  if (typeof body !== 'function') return body
  const fn = body as AnyFunction
  const wrapped = (...args: unknown[]) => {
    const session = (args[contextIndex] as Context | undefined)?.session
    if (definedAt !== undefined) noteDefinition(session, definedAt)
    if (definedAt === undefined) return runInSession(session, () => fn(...args))
    return runInSession(session, () => runTestBody(session, () => fn(...args)))
  }
  return named(wrapped, fn, fn.toString())
}

/** In the same turn for a test without a cassette, as the runner itself does it. */
function runTestBody(session: SessionView | undefined, run: () => unknown): unknown {
  const attempt = session === undefined ? undefined : running.get(session)
  return attempt?.cassette === undefined ? run() : runBody(attempt, session!, run)
}

function noteDefinition(session: SessionView | undefined, definedAt: string): void {
  const attempt = session === undefined ? undefined : running.get(session)
  if (attempt !== undefined) attempt.definedAt = definedAt
}

/** vitest parses a function's source to find the fixtures it uses. */
function named(wrapped: unknown, original: AnyFunction, source: string): unknown {
  return Object.defineProperties(wrapped as AnyFunction, {
    toString: { value: () => source },
    name: { value: original.name },
    length: { value: original.length },
  })
}
