import { noCounts } from '../deliver/delivery.ts'
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
  /** Steps that were discarded: to stay within limits, or because they could not be encoded. */
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

/**
 * Tells whether everything that was recorded has arrived, and if not, where it is.
 *
 * @example
 * const { recorded, delivered, dropped } = playhead.stats()
 */
export function stats(): Stats {
  const { delivery, capture, recorder } = knownRuntime() ?? {}
  const calls = capture?.counts()
  return {
    ...(delivery?.counts ?? noCounts),
    queued: delivery?.queuedCount ?? 0,
    faults: recorder?.faultCount ?? 0,
    capturedCalls: calls?.captured ?? 0,
    failedCaptures: calls?.failed ?? 0,
    server: delivery?.state ?? 'off',
  }
}
