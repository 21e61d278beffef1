import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders } from './request-parts.ts'
import { ObservedCall } from '../calls/observed-call.ts'
import { mayBeCall } from '../calls/recognize-request.ts'
import type { WatchedRequests } from './watched-requests.ts'

type Fetch = typeof globalThis.fetch

/** Watches `globalThis.fetch`: for runtimes that have no dispatcher to hook. Clients that took `fetch` before are not seen. */
export function hookFetch(capture: ActiveCapture, watched: WatchedRequests): () => void {
  const original = globalThis.fetch
  if (typeof original !== 'function') return () => {}
  let isActive = true
  const observed: Fetch = Object.assign(function fetch(this: unknown, ...given: Parameters<Fetch>) {
    const call = isActive ? capture.guard(() => watchFetch(capture, given)) : undefined
    if (call !== undefined) watched.add(call)
    const answer = Reflect.apply(original, this, given)
    if (call === undefined) return answer
    return answer.then(
      (response) =>
        capture.guard(() => observeResponse(response, call, () => watched.remove(call))) ?? response,
      (error: unknown) => {
        watched.remove(call)
        call.failed(error)
        throw error
      },
    )
  }, original)
  globalThis.fetch = observed
  return () => {
    isActive = false
    if (globalThis.fetch === observed) globalThis.fetch = original
  }
}

/** Undefined for what is no call to a model, and for bodies that can't be looked at without taking them away. */
function watchFetch(capture: ActiveCapture, [input, init]: Parameters<Fetch>): ObservedCall | undefined {
  const request = input instanceof Request ? input : undefined
  const url = new URL(input instanceof Request ? input.url : input)
  const method = init?.method ?? request?.method ?? 'GET'
  if (!mayBeCall(method, url.pathname) || capture.options.isOwnRequest(url)) return undefined
  const body: unknown = init?.body
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer)) {
    if (body instanceof ReadableStream || (body === undefined && request?.body != null)) capture.failed += 1
    return undefined
  }
  const call = new ObservedCall(capture, url, readHeaders(init?.headers ?? request?.headers))
  call.sent(body)
  call.askedSoon()
  return call
}

/** The same response with a body that is looked at while it is read. */
function observeResponse(response: Response, call: ObservedCall, onOver: () => void): Response {
  // What such a runtime hands out is decoded already.
  const header = (name: string) =>
    name === 'content-encoding' ? undefined : (response.headers.get(name) ?? undefined)
  call.answerBegan(response.status, header)
  if (response.body === null) {
    call.answerEnded()
    onOver()
    return response
  }
  const body = observeStream(response.body, call, onOver)
  const { status, statusText, headers } = response
  const observed = new Response(body, { status, statusText, headers })
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(observed, name, { value: response[name], configurable: true })
  return observed
}

/** Reads only when the host does, and passes on the very chunks, errors and cancellations. */
function observeStream(
  body: ReadableStream<Uint8Array>,
  call: ObservedCall,
  onOver: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            call.answerEnded()
            onOver()
            controller.close()
          } else {
            call.received(value)
            controller.enqueue(value)
          }
        } catch (error) {
          call.failed(error)
          onOver()
          controller.error(error)
        }
      },
      async cancel(reason) {
        call.failed(reason, true)
        onOver()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
