const FIRST_PAUSE_MS = 30_000
const LAST_PAUSE_MS = 3_600_000

/**
 * Whether the engine may be started again for a damaged file: it then puts the part aside and goes back to those that it
 * was merged from. Ever more rarely, since damage that a start does not mend must not keep the engine starting.
 */
export function createRepairPace(now: () => number = () => performance.now()): () => boolean {
  let pauseMs = FIRST_PAUSE_MS
  let lastAtMs = -Infinity
  return () => {
    if (now() - lastAtMs < pauseMs) return false
    if (lastAtMs !== -Infinity) pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)
    lastAtMs = now()
    return true
  }
}
