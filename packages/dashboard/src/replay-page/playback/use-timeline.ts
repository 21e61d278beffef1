import { useEffect, useMemo, useState } from 'react'
import { LOST_AFTER_MS, type Session } from '@playhead/model'
import { createTimeline, type Timeline } from './timeline.ts'

const TICK_MS = 250

/** The session laid out in time. One that still runs grows with the clock, even while nothing is heard of it. */
export function useTimeline({ session, steps }: Session): Timeline {
  const laidOut = useMemo(() => createTimeline(session, steps), [session, steps])
  const isRunning = session.endState === 'running'
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  const untilMs = isRunning ? runningFor(laidOut, nowMs) : laidOut.durationMs
  return useMemo(
    () => (untilMs === laidOut.durationMs ? laidOut : { ...laidOut, durationMs: untilMs }),
    [laidOut, untilMs],
  )
}

/** The clock of the sender may not be ours: what it says is believed as far as it makes sense. */
function runningFor({ session, durationMs }: Timeline, nowMs: number): number {
  const sinceStartMs = nowMs - Date.parse(session.startedAt)
  return sinceStartMs > durationMs && sinceStartMs < durationMs + LOST_AFTER_MS ? sinceStartMs : durationMs
}
