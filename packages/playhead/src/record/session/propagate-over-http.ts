import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Context } from '@opentelemetry/api'
import type { ContextScope } from '../opentelemetry/context-scope.ts'
import type { Recorder } from './recorder.ts'
import { contextFromHeaders, headersOfContext } from './session-headers.ts'

export type Propagate = boolean | readonly string[] | ((url: URL) => boolean) | undefined

/** undici's request, as its diagnostics channel publishes it. */
type UndiciRequest = {
  origin?: string | URL
  path?: string
  headers?: string | readonly string[]
  addHeader(name: string, value: string): unknown
}

/**
 * Propagates sessions between processes in W3C headers: adds them to outgoing requests of a session, and makes the work
 * of an incoming request part of the sender's session.
 */
export function propagateOverHttp(
  recorder: Pick<Recorder, 'scope' | 'guard'>,
  propagate: () => Propagate,
): () => void {
  const { scope } = recorder
  const handlers: Record<string, (message: unknown) => void> = {
    'undici:request:create': (message) =>
      addToUndici((message as { request: UndiciRequest }).request, scope.active(), propagate()),
    'http.client.request.created': (message) =>
      addToHttp((message as { request: ClientRequest }).request, scope.active(), propagate()),
    'http.server.request.start': (message) =>
      receive((message as { request: IncomingMessage }).request, scope),
  }
  const stops = Object.entries(handlers).map(([channel, handler]) => {
    const guarded = (message: unknown) => recorder.guard(() => handler(message))
    subscribe(channel, guarded)
    return () => unsubscribe(channel, guarded)
  })
  return () => stops.forEach((stop) => stop())
}

function addToUndici(request: UndiciRequest, context: Context, propagate: Propagate): void {
  const headers = headersOfContext(context)
  if (headers === undefined || hasTraceParent(request.headers)) return
  const url = URL.parse(request.path ?? '/', String(request.origin))
  if (url === null || !isIncluded(url, propagate)) return
  for (const [name, value] of Object.entries(headers)) request.addHeader(name, value)
}

function hasTraceParent(headers: UndiciRequest['headers']): boolean {
  const text = typeof headers === 'string' ? headers : (headers ?? []).join('\n')
  return /(?:^|\n)traceparent(?::|\n|$)/i.test(text)
}

function addToHttp(request: ClientRequest, context: Context, propagate: Propagate): void {
  const headers = headersOfContext(context)
  if (headers === undefined || request.headersSent || request.hasHeader('traceparent')) return
  const url = URL.parse(
    request.path,
    `${request.protocol}//${String(request.getHeader('host') ?? request.host)}`,
  )
  if (url === null || !isIncluded(url, propagate)) return
  const others = request.getHeader('baggage')
  request.setHeader('traceparent', headers.traceparent)
  request.setHeader('baggage', typeof others === 'string' ? `${others},${headers.baggage}` : headers.baggage)
}

function isIncluded(url: URL, propagate: Propagate): boolean {
  if (propagate === undefined) return isInOwnNetwork(url.hostname)
  if (typeof propagate === 'boolean') return propagate
  if (typeof propagate === 'function') return propagate(url)
  return propagate.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`))
}

/** Connections are reused, so the context of one request must not leak into the next on the same connection. */
const receivedContexts = new WeakSet<Context>()

function receive({ headers }: IncomingMessage, scope: ContextScope): void {
  const received = contextFromHeaders({
    traceparent: headers.traceparent as string | undefined,
    baggage: headers.baggage as string | undefined,
  })
  if (received.isSession) {
    receivedContexts.add(received.context)
    scope.enter(received.context)
  } else if (receivedContexts.has(scope.active())) scope.enter(received.context)
}

/** Domains that never resolve on the public internet. */
const privateDomains = ['.local', '.internal', '.lan', '.home.arpa', '.localhost', '.svc', '.cluster.local']

/** True for this machine, private addresses and names without a domain. */
export function isInOwnNetwork(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '')
  if (host === 'localhost' || privateDomains.some((domain) => host.endsWith(domain))) return true
  if (host.includes(':')) return host === '::1' || /^f[cd]|^fe80:/.test(host)
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host))
    return /^(?:127|10)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(host)
  return !host.includes('.')
}
