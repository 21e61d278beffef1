/** ECMAScript's last representable instant. */
export const LAST_TIME_MS = 8.64e15

/** An instant that a date can hold; 0 when none was sent. */
export function readableTime(timeMs: number): number {
  return timeMs > 0 ? Math.min(timeMs, LAST_TIME_MS) : 0
}

export function isoTime(timeMs: number): string {
  return new Date(readableTime(timeMs)).toISOString()
}

/** Milliseconds to three decimals: what is left of a nanosecond clock in a floating point number. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
