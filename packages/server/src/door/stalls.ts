const TICK_MS = 500
/** How late a tick must be to show that this process could not read what clients had sent. */
const LEAST_STALL_MS = 500
/** The share of a time limit that must have been lost to stalls before the client is not to blame. */
const LEAST_SHARE = 0.25
const REMEMBERED_MS = 300_000

type Stall = { fromMs: number; toMs: number }

const stalls: Stall[] = []
let lastTickMs: number | undefined

/** Begins to notice when this process is busy for so long that it leaves requests unread. */
export function watchStalls(): void {
  if (lastTickMs !== undefined) return
  lastTickMs = performance.now()
  setInterval(tick, TICK_MS).unref()
}

/** Whether something was late within a limit because this process did not get to read it. */
export function wasTooBusyToRead(limitMs: number): boolean {
  tick()
  const sinceMs = performance.now() - limitMs
  const lostMs = stalls.reduce(
    (sum, { fromMs, toMs }) => sum + Math.max(0, toMs - Math.max(fromMs, sinceMs)),
    0,
  )
  return lostMs >= limitMs * LEAST_SHARE
}

/** Also called outside of the interval: of two timers that a stall made late, the other one may run first. */
function tick(): void {
  const nowMs = performance.now()
  if (lastTickMs !== undefined && nowMs - lastTickMs > TICK_MS + LEAST_STALL_MS)
    stalls.push({ fromMs: lastTickMs, toMs: nowMs })
  lastTickMs = nowMs
  while (stalls.length > 0 && stalls[0]!.toMs < nowMs - REMEMBERED_MS) stalls.shift()
}
