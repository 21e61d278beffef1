import type { HrTime } from '@opentelemetry/api'

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
  const systemMs = Date.now()
  let nowMs = performance.timeOrigin + performance.now() + correctionMs
  if (Math.abs(nowMs - systemMs) > MAX_DRIFT_MS) {
    correctionMs += systemMs + 0.5 - nowMs
    nowMs = systemMs + 0.5
    lastMs = Math.min(lastMs, nowMs)
  }
  lastMs = Math.max(nowMs, lastMs + STEP_MS)
  return lastMs
}

export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}
