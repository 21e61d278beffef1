const INITIAL_MS = 250
const MAX_MS = 30_000
/** A server may ask for longer delays, within reason. */
const MAX_RETRY_AFTER_MS = 300_000

/** Exponential backoff with jitter. `Retry-After` takes precedence; `random` is between 0 and 1. */
export function retryDelayMs(failures: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) + random * INITIAL_MS
  const backoffMs = Math.min(MAX_MS, INITIAL_MS * 2 ** Math.max(0, failures - 1))
  return backoffMs / 2 + (random * backoffMs) / 2
}

/** Parses `Retry-After`: seconds or a date. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
