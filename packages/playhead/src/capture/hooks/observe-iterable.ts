import type { ObservedCall } from '../calls/observed-call.ts'

/**
 * A body that tells a call what is read from it. Undefined for what is no plain async iterable: forms and Node's streams
 * have more to them than their chunks.
 */
export function observeIterable(body: unknown, call: ObservedCall): AsyncIterable<unknown> | undefined {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return undefined
  if ('pipe' in body || 'getReader' in body || 'append' in body) return undefined
  const iterable = body as AsyncIterable<unknown>
  return {
    [Symbol.asyncIterator]() {
      const iterator = iterable[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await iterator.next()
          if (result.done === true) call.askedSoon()
          else call.sent(result.value)
          return result
        },
        ...(iterator.return !== undefined && { return: (value: unknown) => iterator.return!(value) }),
        ...(iterator.throw !== undefined && { throw: (error: unknown) => iterator.throw!(error) }),
      }
    },
  }
}
