const FIRST_MS = 250
const LONGEST_MS = 30_000
/** A server may ask for more patience than we have by ourselves, within reason. */
const LONGEST_ASKED_MS = 300_000

/** How long to wait after so many failures in a row: doubling, with chance in it so that many clients do not come at once. */
export function retryDelayMs(failures: number, askedMs: number | undefined, chance: number): number {
  if (askedMs !== undefined) return Math.min(askedMs, LONGEST_ASKED_MS) + chance * FIRST_MS
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1))
  return longest / 2 + (chance * longest) / 2
}

/** What `Retry-After` asks for, in seconds or as a date. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
