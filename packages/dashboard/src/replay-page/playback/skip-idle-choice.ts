import { findIdleGaps, isMostlyIdle } from './idle-gaps.ts'
import type { Timeline } from './timeline.ts'

const KEY = 'playhead.skip-idle'

/** What the person chose last; where they chose nothing, sessions that mostly waited are shown without the waiting. */
export function chooseSkippingIdle(timeline: Timeline): boolean {
  const choice = readChoice()
  return choice ?? isMostlyIdle(timeline.durationMs, findIdleGaps(timeline))
}

export function rememberSkippingIdle(isSkipping: boolean): void {
  try {
    localStorage.setItem(KEY, isSkipping ? 'on' : 'off')
  } catch {
    // A page that was opened from disk may have no storage.
  }
}

function readChoice(): boolean | undefined {
  try {
    const choice = localStorage.getItem(KEY)
    return choice === null ? undefined : choice === 'on'
  } catch {
    return undefined
  }
}
