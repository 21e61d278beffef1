import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders } from './request-parts.ts'
import { ObservedCall } from '../calls/observed-call.ts'
import { mayBeCall } from '../calls/recognize-request.ts'
import type { WatchedRequests } from './watched-requests.ts'

type Fetch = typeof globalThis.fetch

/** Hooks `globalThis.fetch`, for runtimes without a dispatcher. Clients that copied `fetch` earlier are not observed. */
export function hookFetch(capture: ActiveCapture, watched: WatchedRequests): () => void {
  const original = globalThis.fetch
  if (typeof original !== 'function') return () => {}
  let isActive = true
  const observed: Fetch = Object.assign(function fetch(this: unknown, ...args: Parameters<Fetch>) {
    const call = isActive ? capture.guard(() => observeRequest(capture, args)) : undefined
    if (call !== undefined) watched.add(call)
    const response = Reflect.apply(original, this, args)
    if (call === undefined) return response
    return response.then(
      (original) =>
        capture.guard(() => observeResponse(original, call, () => watched.remove(call))) ?? original,
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

/** Undefined for everything but model calls, and for bodies that can't be read without consuming them. */
function observeRequest(capture: ActiveCapture, [input, init]: Parameters<Fetch>): ObservedCall | undefined {
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
  call.addRequestChunk(body)
  call.requestEnded()
  return call
}

/** Returns the same response with an observed body. */
function observeResponse(response: Response, call: ObservedCall, onEnd: () => void): Response {
  // In these runtimes the body is already decoded.
  const header = (name: string) =>
    name === 'content-encoding' ? undefined : (response.headers.get(name) ?? undefined)
  call.responseStarted(response.status, header)
  if (response.body === null) {
    call.responseEnded()
    onEnd()
    return response
  }
  const body = observeStream(response.body, call, onEnd)
  const { status, statusText, headers } = response
  const observed = new Response(body, { status, statusText, headers })
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(observed, name, { value: response[name], configurable: true })
  return observed
}

/** Reads only when the host does, and passes on the same chunks, errors and cancellations. */
function observeStream(
  body: ReadableStream<Uint8Array>,
  call: ObservedCall,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) {
            call.responseEnded()
            onEnd()
            controller.close()
          } else {
            call.addResponseChunk(value)
            controller.enqueue(value)
          }
        } catch (error) {
          call.failed(error)
          onEnd()
          controller.error(error)
        }
      },
      async cancel(reason) {
        call.failed(reason, true)
        onEnd()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
