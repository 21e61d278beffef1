import * as types from 'node:util/types'

/** A label for the object, or another value to record in its place. Undefined for plain data. */
export type Described = { label: string } | { value: unknown } | undefined

const plainPrototypes: ReadonlySet<object | null> = new Set([Object.prototype, Array.prototype, null])

/** Describes an object that is more than its keys. The only code of the object that it runs is `toJSON`. */
export function describeObject(value: object): Described {
  // Any access to a proxy runs its traps, even reading its prototype.
  if (types.isProxy(value)) return { label: inspectTarget(value) }
  if (plainPrototypes.has(Object.getPrototypeOf(value) as object | null)) {
    return Object.hasOwn(value, 'toJSON') ? describeWithToJson(value) : undefined
  }
  return describeBuiltIn(value) ?? describeStream(value) ?? describeWithToJson(value)
}

/** Values and keys of the data behind a proxy. */
const MAX_INSPECTED = 2000

/** Proxies that were too much to inspect, so that it is tried once. */
const largeProxies = new WeakSet<object>()

/** `inspect` has no limit for keys, but calls this for each of them. */
function stopAfter(count: number): (text: string) => string {
  let left = count
  return (text) => {
    left -= 1
    if (left < 0) throw new Error('too much to inspect')
    return text
  }
}

type InspectOptions = import('node:util').InspectOptions & { stylize?: (text: string) => string }

/** Loaded on demand, because it is rarely needed. */
function inspect(value: unknown, options: InspectOptions): string {
  return process.getBuiltinModule('node:util').inspect(value, options)
}

/** Reads the data behind a proxy without running its traps. */
function inspectTarget(proxy: object): string {
  if (largeProxies.has(proxy)) return '[proxy]'
  try {
    return inspect(proxy, {
      stylize: stopAfter(MAX_INSPECTED),
      showProxy: false,
      customInspect: false,
      getters: false,
      depth: 3,
      maxArrayLength: 50,
      maxStringLength: 2000,
      breakLength: Infinity,
    })
  } catch {
    largeProxies.add(proxy)
    return '[proxy]'
  }
}

function describeBuiltIn(value: object): Described {
  if (types.isDate(value)) return { value: dateText(value) }
  if (types.isNativeError(value)) return { value: describeErrorObject(value) }
  if (types.isRegExp(value)) return { label: RegExp.prototype.toString.call(value) }
  if (types.isAnyArrayBuffer(value)) return { label: `[${value.byteLength} bytes]` }
  if (types.isArrayBufferView(value)) return { label: `[${value.byteLength} bytes]` }
  if (types.isPromise(value)) return { label: '[Promise]' }
  if (types.isGeneratorObject(value)) return { label: '[Generator]' }
  if (types.isWeakMap(value) || types.isWeakSet(value)) return { label: '[weak collection]' }
  if (types.isBoxedPrimitive(value)) return { label: inspect(value, { customInspect: false }) }
  if (value instanceof URL) return { label: value.href }
  return undefined
}

function dateText(date: Date): string | null {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? null : Date.prototype.toISOString.call(date)
}

function describeErrorObject(error: Error): Record<string, unknown> {
  const described: Record<string, unknown> = {}
  for (const key of ['name', 'message', 'code', 'cause']) {
    const found = findDataProperty(error, key)
    if (found !== undefined) described[key] = found
  }
  return described
}

/** Streams, requests and responses can be read only once, and that is up to the host. */
function describeStream(value: object): Described {
  const isStream =
    typeof findDataProperty(value, 'pipe') === 'function' ||
    typeof findDataProperty(value, 'getReader') === 'function' ||
    (typeof Response === 'function' && (value instanceof Response || value instanceof Request))
  return isStream ? { label: `[${constructorName(value)}]` } : undefined
}

function describeWithToJson(value: object): Described {
  const toJson = findDataProperty(value, 'toJSON')
  if (typeof toJson !== 'function') return undefined
  try {
    const described: unknown = toJson.call(value, '')
    if (types.isPromise(described)) return ignorePromise(described)
    return described === value || types.isProxy(described) ? undefined : { value: described }
  } catch {
    return { label: `[${constructorName(value)}]` }
  }
}

/** Nobody else knows the promise, so its rejection would end the process. */
function ignorePromise(promise: Promise<unknown>): Described {
  void Promise.prototype.then.call(promise, undefined, () => undefined)
  return { label: '[Promise]' }
}

export function constructorName(value: object): string {
  const constructor = findDataProperty(value, 'constructor')
  const name = typeof constructor === 'function' ? findDataProperty(constructor, 'name') : undefined
  return typeof name === 'string' && name !== '' ? name : 'object'
}

const MAX_PROTOTYPES = 10

/** Finds a property of the object or its prototypes without calling a getter. */
export function findDataProperty(value: object, key: string): unknown {
  let owner: object | null = value
  for (let depth = 0; owner !== null && depth < MAX_PROTOTYPES; depth += 1) {
    if (types.isProxy(owner)) return undefined
    const property = Object.getOwnPropertyDescriptor(owner, key)
    if (property !== undefined) return property.value
    owner = Object.getPrototypeOf(owner) as object | null
  }
  return undefined
}
