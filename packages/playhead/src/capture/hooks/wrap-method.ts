import { AsyncLocalStorage } from 'node:async_hooks'
import { context } from '@opentelemetry/api'
import { activeCapture } from '../calls/active-capture.ts'
import { isRecord } from '@playhead/model'
import { WrappedCall, type WrappedRequest } from '../calls/wrapped-call.ts'

type Method = (...args: unknown[]) => unknown

const current = new AsyncLocalStorage<WrappedCall>()

/** In a re-run: where the answer of the current call is from. */
export function noteSource(source: string): void {
  current.getStore()?.setSource(source)
}

const wrappedMethods = new WeakSet<Method>()

/** Replaces a method of a client by one that records its calls. Wrapping twice or a missing method has no effect. */
export function wrapMethod(holder: unknown, name: string, read: (args: unknown[]) => WrappedRequest): void {
  if (typeof holder !== 'object' || holder === null) return
  const target = holder as Record<string, unknown>
  const method = target[name]
  if (typeof method !== 'function' || wrappedMethods.has(method as Method)) return
  const wrapped: Method = function recorded(this: unknown, ...args) {
    const call = WrappedCall.start(() => read(args))
    if (call === undefined) return Reflect.apply(method, this, args) as unknown
    let result: unknown
    try {
      result = current.run(call, () =>
        context.with(call.context, () => Reflect.apply(method, this, args) as unknown),
      )
    } catch (error) {
      call.failed(error)
      throw error
    }
    return activeCapture()?.guard(() => observeResult(result, call)) ?? result
  }
  wrappedMethods.add(wrapped)
  Reflect.defineProperty(target, name, {
    value: wrapped,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

function observeResult(result: unknown, call: WrappedCall): unknown {
  if (isApiPromise(result)) return observeApiPromise(result, call)
  if (!(result instanceof Promise)) return observeValue(result, call)
  return result.then(
    (value) => observeValue(value, call),
    (error: unknown) => {
      call.failed(error)
      throw error
    },
  )
}

/** What OpenAI's and Anthropic's clients return: it sends the request at once, and parses the response when awaited. */
type ApiPromise = Promise<unknown> & {
  responsePromise: Promise<unknown>
  parseResponse: (...args: unknown[]) => Promise<unknown>
  asResponse: () => Promise<unknown>
}

function isApiPromise(result: unknown): result is ApiPromise {
  return (
    isRecord(result) &&
    result.responsePromise instanceof Promise &&
    typeof result.parseResponse === 'function' &&
    typeof result.asResponse === 'function'
  )
}

/** Returns the same promise and observes its parsing, so that the raw response stays unread for hosts that want it. */
function observeApiPromise(promise: ApiPromise, call: WrappedCall): ApiPromise {
  const { responsePromise, parseResponse } = promise
  const asResponse = promise.asResponse.bind(promise)
  let isParsed = false
  promise.responsePromise = responsePromise.then(undefined, (error: unknown) => {
    call.failed(error)
    throw error
  })
  promise.parseResponse = async (...args) => {
    isParsed = true
    try {
      return observeValue(await Reflect.apply(parseResponse, promise, args), call)
    } catch (error) {
      call.failed(error)
      throw error
    }
  }
  promise.asResponse = async () => {
    const response = await asResponse()
    if (!isParsed) call.responded(undefined)
    return response
  }
  return promise
}

function observeValue(value: unknown, call: WrappedCall): unknown {
  if (!isRecord(value) || !(Symbol.asyncIterator in value)) {
    call.responded(value)
    return value
  }
  if (typeof value.next === 'function')
    return observeIterator(value as unknown as AsyncIterator<unknown>, call)
  // The streams of OpenAI's and Anthropic's clients create their iterators here, also after `tee()`.
  const name = typeof value.iterator === 'function' ? 'iterator' : Symbol.asyncIterator
  const iterate = (value as Record<PropertyKey, unknown>)[name] as () => AsyncIterator<unknown>
  Reflect.defineProperty(value, name, {
    value: () => observeIterator(Reflect.apply(iterate, value, []), call),
    configurable: true,
    writable: true,
  })
  return value
}

function observeIterator(
  iterator: AsyncIterator<unknown>,
  call: WrappedCall,
): AsyncIterableIterator<unknown> {
  return {
    async next(...args) {
      try {
        const result = await iterator.next(...args)
        if (result.done === true) call.streamEnded()
        else call.addEvent(result.value)
        return result
      } catch (error) {
        call.failed(error, true)
        throw error
      }
    },
    async return(value?: unknown) {
      call.streamEnded()
      return iterator.return === undefined ? { done: true, value } : iterator.return(value)
    },
    async throw(error?: unknown) {
      call.failed(error, true)
      if (iterator.throw === undefined) throw error
      return iterator.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
