import fc from 'fast-check'

/** What a host's own function throws. It is the only thing that may reach the host. */
export const hostError = new Error('thrown by the host')

const trap = (): never => {
  throw new Error('a trap that must not reach the host')
}

/** The names of all options, so that getters for them are hit. */
const fields =
  `name tags metadata userId threadId test reason timeoutMs eventType actionType params returns effect callId
model provider prompt completion usage cost error errorType message startedAt endedAt agent parameters description apiKey
serviceName environment resource capture redact maxValueBytes propagate keepSessions silent then toJSON constructor baseURL
chat messages models read id url kind attributes links startTime root context traceId`.split(/\s+/)

const traps: ProxyHandler<object> = {
  get: trap,
  has: trap,
  ownKeys: trap,
  getPrototypeOf: trap,
  getOwnPropertyDescriptor: trap,
  apply: trap,
}

function revoked<Target extends object>(target: Target): Target {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function throwingGetters(): object {
  const getters = fields.map((field) => [field, { get: trap, enumerable: true }] as const)
  return Object.defineProperties({}, Object.fromEntries(getters))
}

function circular(): object {
  const value: Record<string, unknown> = { list: [] }
  value.self = value
  ;(value.list as unknown[]).push(value, value)
  return value
}

function deep(): object {
  let value: object = {}
  for (let depth = 0; depth < 20_000; depth += 1) value = { value }
  return value
}

/** Values that break code which expects something else. Made anew, because the SDK may change what it is given. */
const makers: (() => unknown)[] = [
  () => revoked({}),
  () => revoked([]),
  () => new Proxy({}, traps),
  () => new Proxy([], traps),
  () => Object.create(new Proxy({}, traps)) as unknown,
  throwingGetters,
  circular,
  deep,
  () => Object.defineProperty([1, 2], 0, { get: trap }),
  () => ({ toString: trap, valueOf: trap, toJSON: trap, [Symbol.toPrimitive]: trap }),
  () => Object.create(null) as unknown,
  () => Symbol('a symbol'),
  () => 2n ** 4000n,
  () => Number.NaN,
  () => -1,
  () => 1e300,
  () => 'x'.repeat(100_000),
  () => '\uD800 __proto__ \0',
  () => '',
  () => new Date(Number.NaN),
  () => new Map<unknown, unknown>([[{}, circular()]]),
  () => new Float64Array(1000),
  () => Object.freeze([Object.freeze({ a: 1 })]),
  () => Object.assign(new Error('an error'), { name: Symbol('name'), message: 5, cause: circular() }),
  () => Object.defineProperty(new Error('an error'), 'stack', { get: trap }),
  () => new AggregateError([revoked({}), undefined], 'many'),
  () => new DOMException('aborted', 'AbortError'),
  () => ({ then: trap }),
  () => Object.defineProperty({}, 'then', { get: trap }),
  // oxlint-disable-next-line unicorn/no-thenable -- that is the point
  () => ({ then: (resolve: (value: unknown) => void) => resolve(1) }),
  () => Promise.resolve(1),
  () => class Uncallable extends Map {},
  () => revoked(() => 1),
  () => process,
  () => globalThis,
  () => JSON.parse('{"__proto__": {"name": 1}, "constructor": 5}') as unknown,
]

/** Functions of a host, in all the ways that they return and throw. */
const functionMakers: (() => (...args: unknown[]) => unknown)[] = [
  () => () => 1,
  () => (value) => value,
  () => () => {
    throw hostError
  },
  () => () => Promise.reject(hostError),
  () => () => Object.assign(Promise.resolve(1), { constructor: { [Symbol.species]: trap } }),
  () => () => Object.freeze(numbers()),
  () => () => numbers(),
  () => () => revoked({}),
  () => () => new Proxy({}, traps),
  () => () => Object.defineProperty({}, 'then', { get: trap }),
  // oxlint-disable-next-line unicorn/no-thenable -- that is the point
  () => () => Object.freeze({ then: (resolve: (value: unknown) => void) => resolve(1) }),
  () =>
    Object.defineProperty(
      Object.assign(() => 1, { toString: trap }),
      'name',
      { value: 5 },
    ),
  () => Object.defineProperty(() => 1, 'name', { get: trap }),
  () => Object.setPrototypeOf(() => 1, null) as () => number,
  () => async () => circular(),
]

function* numbers(): Generator<number> {
  yield 1
  yield 2
}

/** Makes a value. The generator only handles makers, because it reads the values that it generates. */
export type Make<Value = unknown> = () => Value

export const hostileFunction = fc.constantFrom(...functionMakers)

const atom: fc.Arbitrary<Make> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...makers) },
  {
    weight: 2,
    arbitrary: fc
      .anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withNullPrototype: true,
        withSparseArray: true,
        withTypedArray: true,
        maxDepth: 2,
      })
      .map((value) => () => value),
  },
  { weight: 1, arbitrary: hostileFunction },
)

/** An object with options of the SDK, each with any value. */
export function hostileOptions(names: readonly string[]): fc.Arbitrary<Make<object>> {
  return fc
    .dictionary(fc.constantFrom(...names), atom, { maxKeys: 6 })
    .map((made) => () => Object.fromEntries(Object.entries(made).map(([name, make]) => [name, make()])))
}

const list = fc.array(atom, { maxLength: 3 }).map((made) => () => made.map((make) => make()))

export const hostileValue: fc.Arbitrary<Make> = fc.oneof(
  { weight: 2, arbitrary: atom },
  { weight: 2, arbitrary: hostileOptions(fields) },
  { weight: 1, arbitrary: list },
)

/** Any number of arguments of any kind. */
export const hostileArguments: fc.Arbitrary<Make<unknown[]>> = fc
  .array(hostileValue, { maxLength: 4 })
  .map((made) => () => made.map((make) => make()))
