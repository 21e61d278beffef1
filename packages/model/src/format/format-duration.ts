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
