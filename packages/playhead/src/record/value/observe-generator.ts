import * as types from 'node:util/types'
import type { Observer } from './observe-result.ts'

type Advance = (this: unknown, value?: unknown) => unknown
type AnyGenerator = Generator | AsyncGenerator

const methods = ['next', 'return', 'throw'] as const

/** Watches a generator on the object itself, which stays the one that it is. Its body runs where the call belongs. */
export function observeGenerator(generator: AnyGenerator, observer: Observer): AnyGenerator {
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
