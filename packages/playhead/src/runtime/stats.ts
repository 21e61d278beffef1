import { knownRuntime } from './runtime.ts'

/** Delivery counts since the process started. */
export type Stats = {
  /** Steps that have ended. */
  recorded: number
  /** Steps that the server acknowledged. */
  delivered: number
  /** Steps waiting in memory. */
  queued: number
  /** Steps that were written to disk because the server did not respond. */
  spooled: number
  /** Steps that were discarded to stay within limits. */
  dropped: number
  /** Steps that the server rejected. */
  rejected: number
  failedRequests: number
  /** Internal errors of the SDK. */
  faults: number
  /** Model calls that were captured at the HTTP layer, and those that could not be. */
  capturedCalls: number
  failedCaptures: number
  /** `off` if no server is configured. */
  server: 'off' | 'up' | 'down'
}

const nothing: Stats = {
  recorded: 0,
  delivered: 0,
  queued: 0,
  spooled: 0,
  dropped: 0,
  rejected: 0,
  failedRequests: 0,
  faults: 0,
  capturedCalls: 0,
  failedCaptures: 0,
  server: 'off',
}

/**
 * Tells whether everything that was recorded has arrived, and if not, where it is.
 *
 * @example
 * const { recorded, delivered, dropped } = playhead.stats()
 */
export function stats(): Stats {
  const runtime = knownRuntime()
  if (runtime === undefined) return { ...nothing }
  const { delivery, capture, recorder } = runtime
  const counts = capture?.counts()
  return {
    ...delivery.counts,
    queued: delivery.queuedCount,
    faults: recorder.faultCount,
    capturedCalls: counts?.captured ?? 0,
    failedCaptures: counts?.failed ?? 0,
    server: delivery.state,
  }
}
