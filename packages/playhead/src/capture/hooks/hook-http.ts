import { Buffer } from 'node:buffer'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders, requestUrl } from './request-parts.ts'
import { toObject } from '@playhead/model'
import { isOnNetwork } from '../../record/session/own-connection.ts'
import { ObservedCall } from '../calls/observed-call.ts'
import { explainUnrecorded } from '../calls/unrecorded-api.ts'
import { mayBeCall } from '../calls/recognize-request.ts'

/**
 * Observes requests through node:http and node:https, as axios, node-fetch and older Google clients make them. Node
 * publishes each request on a diagnostics channel, so nothing in these modules is patched.
 */
export function hookHttp(capture: ActiveCapture): () => void {
  const calls = new WeakMap<ClientRequest, WatchedCall>()
  const listeners: [string, (message: unknown) => void][] = [
    ['http.client.request.created', (message) => watch(toObject(message).request as ClientRequest)],
    [
      'http.client.response.finish',
      (message) => {
        const { request, response } = toObject(message)
        const watched = calls.get(request as ClientRequest)
        if (watched !== undefined) observeResponse(response as IncomingMessage, watched)
      },
    ],
    // AWS's clients speak HTTP/2, which we don't record.
    [
      'http2.client.stream.created',
      (message) => {
        const { ':authority': host, ':path': path } = toObject(toObject(message).headers)
        warnUnrecorded(requestUrl(`https://${String(host)}`, path))
      },
    ],
    [
      'http.client.request.error',
      (message) => {
        const { request, error } = toObject(message)
        const watched = calls.get(request as ClientRequest)
        watched?.call.failed(error, watched.isAborted || undefined)
      },
    ],
  ]
  const guarded = listeners.map(
    ([channel, listener]) => [channel, (message: unknown) => capture.guard(() => listener(message))] as const,
  )
  for (const [channel, listener] of guarded) subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of guarded) unsubscribe(channel, listener)
  }

  function warnUnrecorded(url: URL | undefined): void {
    const sentence = url === undefined ? undefined : explainUnrecorded(url)
    if (sentence !== undefined) capture.reportOnce('unrecorded API', sentence)
  }

  function watch(request: ClientRequest): void {
    // A request that the tape let through is recorded where the host made it.
    if (isOnNetwork()) return
    const isCall = mayBeCall(request.method, request.path)
    if (!isCall && !request.host.startsWith('bedrock')) return
    const host = request.getHeader('host')
    const url = requestUrl(
      `${request.protocol}//${typeof host === 'string' ? host : request.host}`,
      request.path,
    )
    if (!isCall) return warnUnrecorded(url)
    if (url === undefined || capture.options.isOwnRequest(url)) return
    const call = new ObservedCall(capture, url, (name) => {
      const value = request.getHeader(name)
      return value === undefined ? undefined : String(value)
    })
    const watched = { call, isAborted: false }
    calls.set(request, watched)
    observeRequest(request, watched)
  }
}

type WatchedCall = { call: ObservedCall; isAborted: boolean }

/** Wraps the methods that the host writes the body with. */
function observeRequest(request: ClientRequest, watched: WatchedCall): void {
  const { call } = watched
  const destroy = request.destroy.bind(request)
  request.destroy = (error) => {
    watched.isAborted = true
    return destroy(error)
  }
  const write = request.write.bind(request) as (...args: unknown[]) => boolean
  const end = request.end.bind(request) as (...args: unknown[]) => ClientRequest
  request.write = (...args: unknown[]) => {
    call.addRequestChunk(bytesOf(args))
    return write(...args)
  }
  request.end = (...args: unknown[]) => {
    call.addRequestChunk(bytesOf(args))
    const result = end(...args)
    call.requestEnded()
    return result
  }
}

function bytesOf([chunk, encoding]: unknown[]): unknown {
  const isText = typeof chunk === 'string' && typeof encoding === 'string'
  return isText ? Buffer.from(chunk, encoding as BufferEncoding) : chunk
}

/** Observes where Node's parser pushes chunks, which does not change when or whether the host reads them. */
function observeResponse(response: IncomingMessage, watched: WatchedCall): void {
  const { call } = watched
  call.responseStarted(response.statusCode ?? 0, readHeaders(response.headers))
  const push = response.push.bind(response)
  response.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null) call.responseEnded()
    else if (chunk instanceof Uint8Array) call.addResponseChunk(chunk)
    return push(chunk, encoding)
  }
  const destroy = response.destroy.bind(response)
  response.destroy = (error) => {
    // Node itself destroys it with this code when the server is gone.
    if (toObject(error).code !== 'ECONNRESET') watched.isAborted = true
    return destroy(error)
  }
  // Has no effect unless the response was cut off.
  response.once('close', () =>
    call.failed(response.errored ?? new Error('aborted'), watched.isAborted || undefined),
  )
}
