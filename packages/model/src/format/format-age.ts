const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SHOWN_AS_AGE_DAYS = 30

/** "12s ago", "3m ago", "5h ago", "2d ago"; a date when it is longer ago. */
export function formatAge(time: string, nowMs: number): string {
  const timeMs = Date.parse(time)
  if (Number.isNaN(timeMs)) return '–'
  // Clocks of other machines may be ahead.
  const ageMs = Math.max(0, nowMs - timeMs)
  if (ageMs < MINUTE_MS) return `${Math.floor(ageMs / 1000)}s ago`
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)}m ago`
  if (ageMs < DAY_MS) return `${Math.floor(ageMs / HOUR_MS)}h ago`
  if (ageMs < SHOWN_AS_AGE_DAYS * DAY_MS) return `${Math.floor(ageMs / DAY_MS)}d ago`
  return new Date(timeMs).toISOString().slice(0, 10)
}
