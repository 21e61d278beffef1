/** The last instant that a JavaScript Date can hold. */
export const LAST_TIME_MS = 8.64e15

/** Clamps to what a Date can hold; 0 when no time was sent. */
export function readableTime(timeMs: number): number {
  return timeMs > 0 ? Math.min(timeMs, LAST_TIME_MS) : 0
}

const milliseconds = Array.from({ length: 1000 }, (_, number) => `${String(number).padStart(3, '0')}Z`)
let lastSecond = { number: 0, text: '1970-01-01T00:00:00.' }

/** As `toISOString`, but faster: most steps share their second with the one before. */
export function isoTime(timeMs: number): string {
  const time = Math.trunc(readableTime(timeMs))
  const number = Math.floor(time / 1000)
  if (number !== lastSecond.number)
    lastSecond = { number, text: new Date(number * 1000).toISOString().slice(0, -'000Z'.length) }
  return lastSecond.text + milliseconds[time - number * 1000]!
}

/** Rounds to microseconds, the precision that is left of nanoseconds in a floating point number. */
export function roundMs(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}
