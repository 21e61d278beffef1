import type { SessionView } from 'playhead'
import { runInSession } from './vitest-session.ts'

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
