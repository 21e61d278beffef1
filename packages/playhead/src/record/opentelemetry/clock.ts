import type { HrTime, TimeInput } from '@opentelemetry/api'

/** The two clocks may be apart by what they round, and no more. */
const MAX_DRIFT_MS = 2
const STEP_MS = 0.001

let correctionMs = 0
let lastMs = 0

/**
 * Milliseconds since 1970 with fractions, never the same twice: steps that begin within one millisecond keep their order.
 * It follows the system's clock, which is set now and then and sleeps with the machine.
 */
export function preciseNowMs(): number {
  const beforeMs = Date.now()
  let nowMs = performance.timeOrigin + performance.now() + correctionMs
  if (Math.abs(nowMs - beforeMs) > MAX_DRIFT_MS) {
    // Looked at again: on a busy machine time may have passed between the two readings.
    const afterMs = Date.now()
    if (nowMs < beforeMs - MAX_DRIFT_MS || nowMs > afterMs + MAX_DRIFT_MS) {
      correctionMs += afterMs + 0.5 - nowMs
      nowMs = afterMs + 0.5
      lastMs = Math.min(lastMs, nowMs)
    }
  }
  lastMs = Math.max(nowMs, lastMs + STEP_MS)
  return lastMs
}

export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}

/** A time as OpenTelemetry's API takes it: since 1970 or, as `performance.now()` gives it, since the process began; else now. */
export function readTime(time: TimeInput | undefined): HrTime {
  if (Array.isArray(time)) return [...time]
  const ms = time instanceof Date ? time.getTime() : time
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return toHrTime(preciseNowMs())
  return toHrTime(ms <= performance.now() ? performance.timeOrigin + ms : ms)
}
