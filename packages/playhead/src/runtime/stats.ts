import { knownRuntime } from '../record/session/active-runtime.ts'

/** What became of what was recorded, counted since the process began. */
export type Stats = {
  /** Steps that ended. */
  recorded: number
  /** Steps that the server acknowledged. */
  delivered: number
  /** Steps that wait in memory. */
  queued: number
  /** Steps that were put on disk because the server did not answer. */
  spooled: number
  /** Steps that were given up to keep within bounds. */
  dropped: number
  /** Steps that the server could not read. */
  rejected: number
  failedRequests: number
  /** Things that went wrong in the SDK itself. */
  faults: number
  /** Calls to models that were recorded at the HTTP layer, and those that could not be. */
  capturedCalls: number
  failedCaptures: number
  /** `off` when nothing is to be sent. */
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
 * Whether everything that was recorded arrived, and if not, where it is.
 *
 * @example
 * const { recorded, delivered, dropped } = playhead.stats()
 */
export function stats(): Stats {
  const runtime = knownRuntime()
  if (runtime === undefined) return { ...nothing }
  const { delivery, capture, faultCount } = runtime
  const counts = capture?.counts()
  return {
    ...delivery.counts,
    queued: delivery.queuedCount,
    faults: faultCount,
    capturedCalls: counts?.captured ?? 0,
    failedCaptures: counts?.failed ?? 0,
    server: delivery.state,
  }
}
