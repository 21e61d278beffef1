/** "850ms", "4.2s", "1m 23s", "2h 05m". */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)}ms`
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)}s`
  const seconds = Math.round(durationMs / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60, 2)}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h ${pad(minutes % 60, 2)}m`
}

/** "00:01.890": minutes, seconds and milliseconds since the session began. */
export function formatOffset(offsetMs: number): string {
  const milliseconds = Math.max(0, Math.round(offsetMs))
  const minutes = Math.floor(milliseconds / 60_000)
  const seconds = Math.floor(milliseconds / 1000) % 60
  return `${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(milliseconds % 1000, 3)}`
}

function pad(count: number, digits: number): string {
  return String(count).padStart(digits, '0')
}

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
