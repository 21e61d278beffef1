import * as types from 'node:util/types'
import { findDataProperty } from './describe-object.ts'

/** Learns how a call ended. */
export type Observer = {
  onReturn(value: unknown): void
  onThrow(error: unknown): void
  /** Runs a part of the call that comes later, where the call belongs. */
  resume<Result>(callback: () => Result): Result
  /** A value that a generator gave on its way. */
  onYield(value: unknown): void
}

// oxlint-disable-next-line typescript/unbound-method -- always called with a promise as `this`
const { then } = Promise.prototype

/**
 * Watches a call's result until it is final, and gives back what the caller gets: the value itself, or for a native promise
 * one that settles alike. Watching a promise without passing on its rejection would hide it from the host's own handling.
 */
export function observeResult(result: unknown, observer: Observer): unknown {
  if (typeof result !== 'object' || result === null) {
    observer.onReturn(result)
    return result
  }
  if (types.isProxy(result)) {
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
 * Promises of a class of their own, and queries that run when they are awaited: calling `then` could run them, and hides
 * their rejection. The host's own call of `then` is watched instead, on the object itself, which stays the one that it is.
 */
function observeThenable(thenable: object, ownThen: Then, observer: Observer): void {
  let isOver = false
  const isFirst = () => !isOver && (isOver = true)
  const watched: Then = function watchedThen(onReturn, onThrow) {
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
  const isWatched = Reflect.defineProperty(thenable, 'then', {
    value: watched,
    configurable: true,
    writable: true,
    enumerable: false,
  })
  if (!isWatched) observer.onReturn(thenable)
}

type Advance = (this: unknown, value?: unknown) => unknown
type AnyGenerator = Generator | AsyncGenerator

const methods = ['next', 'return', 'throw'] as const

/** Watches a generator on the object itself, which stays the one that it is. Its body runs where the call belongs. */
function observeGenerator(generator: AnyGenerator, observer: Observer): AnyGenerator {
  let isOver = false
  const watch: Watch = {
    onResult({ done, value }) {
      if (isOver) return
      if (done !== true) return observer.onYield(value)
      isOver = true
      observer.onReturn(value)
    },
    onThrow(error) {
      if (isOver) return
      isOver = true
      observer.onThrow(error)
    },
  }
  for (const method of methods) {
    const advance = generator[method] as Advance
    Object.defineProperty(generator, method, {
      value: watchAdvance(advance, watch, observer),
      configurable: true,
      writable: true,
      enumerable: false,
    })
  }
  return generator
}

type Watch = { onResult(result: IteratorResult<unknown>): void; onThrow(error: unknown): void }

function watchAdvance(advance: Advance, watch: Watch, observer: Observer): Advance {
  return function watchedAdvance(this: unknown, ...args) {
    let result: unknown
    try {
      result = observer.resume(() => Reflect.apply(advance, this, args))
    } catch (error) {
      watch.onThrow(error)
      throw error
    }
    if (!types.isPromise(result)) {
      watch.onResult(result as IteratorResult<unknown>)
      return result
    }
    return result.then(
      (settled) => {
        watch.onResult(settled as IteratorResult<unknown>)
        return settled
      },
      (error: unknown) => {
        watch.onThrow(error)
        throw error
      },
    )
  }
}
