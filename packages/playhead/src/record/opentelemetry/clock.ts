import * as types from 'node:util/types'
import type { HrTime, TimeInput } from '@opentelemetry/api'

/** The two clocks may differ by their rounding, and no more. */
const MAX_DRIFT_MS = 2
const MIN_STEP_MS = 0.001

let correctionMs = 0
let lastMs = 0

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.true-clock.1')

const holder = globalThis as { [KEY]?: { now: (() => number) | undefined } }
/** Held here, because each step reads it, and a property of the global object takes longer to find. */
const trueClock = (holder[KEY] ??= { now: undefined })

/** The true time in milliseconds since 1970, also while a re-run gives the host another `Date`. */
export function trueNowMs(): number {
  return trueClock.now === undefined ? Date.now() : trueClock.now()
}

/** By how much the host's `Date` is ahead of the true time; undefined unless a re-run gives it another one. */
export function hostClockOffsetMs(): number | undefined {
  return trueClock.now === undefined ? undefined : Date.now() - trueClock.now()
}

export function setTrueClock(now: (() => number) | undefined): void {
  trueClock.now = now
}

/**
 * Milliseconds since 1970, with fractions. Strictly increasing, so that steps keep their order, unless the system clock
 * is set back. It follows the system clock, because the monotonic one stops while the machine sleeps.
 */
export function preciseNowMs(): number {
  const beforeMs = trueNowMs()
  let nowMs = performance.timeOrigin + performance.now() + correctionMs
  if (Math.abs(nowMs - beforeMs) > MAX_DRIFT_MS) {
    // Checked against a second reading: on a busy machine, time may have passed between the two clocks.
    const afterMs = trueNowMs()
    if (nowMs < beforeMs - MAX_DRIFT_MS || nowMs > afterMs + MAX_DRIFT_MS) {
      correctionMs += afterMs + 0.5 - nowMs
      nowMs = afterMs + 0.5
      lastMs = Math.min(lastMs, nowMs)
    }
  }
  lastMs = Math.max(nowMs, lastMs + MIN_STEP_MS)
  return lastMs
}

/** The true time of something that just happened, which the host may have timed with a `Date` that is not true. */
export function toTrueTime(time: HrTime): HrTime {
  const offsetMs = hostClockOffsetMs()
  if (offsetMs === undefined || offsetMs === 0) return time
  const aheadMs = hrTimeToMs(time) - trueNowMs()
  return Math.abs(aheadMs - offsetMs) < Math.abs(aheadMs) ? toHrTime(hrTimeToMs(time) - offsetMs) : time
}

export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}

export function hrTimeToMs(time: HrTime): number {
  return time[0] * 1000 + time[1] / 1e6
}

/** Converts a time of OpenTelemetry's API: since 1970, or since the process started, as from `performance.now()`. */
export function readTime(time: TimeInput | undefined): HrTime {
  if (Array.isArray(time)) return validTime([time[0], time[1]])
  const ms = types.isDate(time) ? Date.prototype.getTime.call(time) : time
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return toHrTime(preciseNowMs())
  return validTime(toHrTime(isSinceStart(ms) ? performance.timeOrigin + ms : ms))
}

/** No process runs for so long. */
const LONGEST_RUN_MS = 1e11

function isSinceStart(ms: number): boolean {
  return ms < LONGEST_RUN_MS && ms <= performance.now()
}

/** The largest number of seconds whose nanoseconds fit into 63 bits: the year 2262. */
const MAX_SECONDS = 9_223_372_035

/** The time itself, or now if it is not a time that can be sent. */
export function validTime(time: HrTime): HrTime {
  const seconds = time[0]
  const nanoseconds = time[1]
  const isValid =
    Number.isInteger(seconds) &&
    seconds >= 0 &&
    seconds <= MAX_SECONDS &&
    Number.isInteger(nanoseconds) &&
    nanoseconds >= 0 &&
    nanoseconds < 1e9
  return isValid ? time : toHrTime(preciseNowMs())
}
