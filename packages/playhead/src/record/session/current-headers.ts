import { activeRuntime } from './active-runtime.ts'
import { settleContext } from './session-frame.ts'
import { headersOfContext, type SessionHeaders } from './session-headers.ts'

/**
 * The W3C headers that make what another process does part of the session that this code runs in. Requests inside the own
 * network carry them by themselves; this is for message queues, sockets and other ways.
 *
 * @example
 * queue.send({ body, headers: playhead.sessionHeaders() })
 */
export function sessionHeaders(): SessionHeaders | Record<string, never> {
  const runtime = activeRuntime()
  return runtime?.guard(() => headersOfContext(settleContext(runtime.scope.active()))) ?? {}
}

/**
 * The same for a child process: its sessions become parts of this one.
 *
 * @example
 * spawn("node", ["tool.js"], { env: { ...process.env, ...playhead.sessionEnvironment() } })
 */
export function sessionEnvironment(): { TRACEPARENT: string; BAGGAGE: string } | Record<string, never> {
  const { traceparent, baggage } = sessionHeaders()
  return traceparent === undefined ? {} : { TRACEPARENT: traceparent, BAGGAGE: baggage }
}
