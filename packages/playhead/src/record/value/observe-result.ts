import * as types from 'node:util/types'
import { findDataProperty } from './describe-object.ts'
import { readField } from './host-value.ts'

/** Learns how a call ends. */
export type Observer = {
  onReturn(value: unknown): void
  onThrow(error: unknown): void
  /** Runs a later part of the call in the call's context. */
  resume<Result>(callback: () => Result): Result
  /** Called for each value that a generator yields. */
  onYield(value: unknown): void
}

// oxlint-disable-next-line typescript/unbound-method -- always called with a promise as `this`
const { then } = Promise.prototype

/**
 * Observes the result of a call until it is final. Returns what the caller gets: the value itself, or for a native promise
 * a derived one that settles the same way, so that an unhandled rejection is still reported to the host.
 */
export function observeResult(result: unknown, observer: Observer): unknown {
  if (typeof result !== 'object' || result === null || types.isProxy(result)) {
    observer.onReturn(result)
    return result
  }
  try {
    return observeObject(result, observer)
  } catch {
    // It can't be observed: a frozen generator, or a promise with a constructor of its own.
    observer.onReturn(result)
    return result
  }
}

/** True for most results: a list or an object without a class, which nobody can await. For anything but a proxy. */
export function isPlain(result: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(result)
  return (prototype === Object.prototype || prototype === Array.prototype) && !('then' in result)
}

function observeObject(result: object, observer: Observer): unknown {
  if (isPlain(result)) {
    observer.onReturn(result)
    return result
  }
  if (types.isPromise(result) && isPlainPromise(result)) return observePromise(result, observer)
  if (types.isGeneratorObject(result)) return observeGenerator(result, observer)
  const ownThen = findDataProperty(result, 'then')
  if (typeof ownThen === 'function') observeThenable(result, ownThen as Then, observer)
  else observer.onReturn(result)
  return result
}

function isPlainPromise(promise: Promise<unknown>): boolean {
  return Object.getPrototypeOf(promise) === Promise.prototype && !Object.hasOwn(promise, 'then')
}

export function observePromise(promise: Promise<unknown>, observer: Observer): Promise<unknown> {
  return then.call(
    promise,
    (value: unknown) => {
      observer.onReturn(value)
      return value
    },
    (error: unknown) => {
      observer.onThrow(error)
      throw error
    },
  )
}

type Callback = ((value: unknown) => unknown) | null | undefined
type Then = (this: object, onReturn?: Callback, onThrow?: Callback) => unknown

/**
 * Observes custom promises, and queries that run when they are awaited. Calling `then` ourselves could run the query and
 * would hide a rejection, so we wrap the `then` of the same object and observe the host's own call.
 */
function observeThenable(thenable: object, ownThen: Then, observer: Observer): void {
  let isOver = false
  const isFirst = () => !isOver && (isOver = true)
  const observedThen: Then = function observedThen(onReturn, onThrow) {
    return ownThen.call(
      this,
      (value) => {
        if (isFirst()) observer.onReturn(value)
        return typeof onReturn === 'function' ? onReturn(value) : value
      },
      (error) => {
        if (isFirst()) observer.onThrow(error)
        if (typeof onThrow === 'function') return onThrow(error)
        throw error
      },
    )
  }
  // oxlint-disable-next-line unicorn/no-thenable -- it was one before
  const isObserved = Reflect.defineProperty(thenable, 'then', {
    value: observedThen,
    configurable: true,
    writable: true,
    enumerable: false,
  })
  if (!isObserved) observer.onReturn(thenable)
}

type Advance = (this: unknown, value?: unknown) => unknown
type AnyGenerator = Generator | AsyncGenerator

const methods = ['next', 'return', 'throw'] as const

/** Wraps the methods of the same generator object. Its body runs in the context of the call. */
function observeGenerator(generator: AnyGenerator, observer: Observer): AnyGenerator {
  let isOver = false
  const watch: Watch = {
    onResult(result) {
      if (isOver) return
      const value = readField(result, 'value')
      if (readField(result, 'done') !== true) return observer.onYield(value)
      isOver = true
      observer.onReturn(value)
    },
    onThrow(error) {
      if (isOver) return
      isOver = true
      observer.onThrow(error)
    },
  }
  const observed = methods.map((method) => {
    const value = observeAdvance(generator[method] as Advance, watch, observer)
    return [method, { value, configurable: true, writable: true, enumerable: false }] as const
  })
  // All or none: it throws before the first change if the generator is frozen.
  return Object.defineProperties(generator, Object.fromEntries(observed))
}

type Watch = { onResult(result: unknown): void; onThrow(error: unknown): void }

function observeAdvance(advance: Advance, watch: Watch, observer: Observer): Advance {
  return function observedAdvance(this: unknown, ...args) {
    let result: unknown
    try {
      result = observer.resume(() => Reflect.apply(advance, this, args))
    } catch (error) {
      watch.onThrow(error)
      throw error
    }
    if (!types.isPromise(result)) {
      watch.onResult(result)
      return result
    }
    return then.call(
      result,
      (step) => {
        watch.onResult(step)
        return step
      },
      (error: unknown) => {
        watch.onThrow(error)
        throw error
      },
    )
  }
}
