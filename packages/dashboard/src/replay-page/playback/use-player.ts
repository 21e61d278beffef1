import { useEffect, useLayoutEffect, useState, useSyncExternalStore, useRef } from 'react'
import { findFailure } from './failures.ts'
import { Player, type PlayerClock, type PlayerStart } from './player.ts'
import type { ReplayLocation } from './replay-location.ts'
import { positionAt, type Timeline } from './timeline.ts'
import { findIdleGaps, isMostlyIdle } from './time-axis.ts'
import { usePrefetchSteps } from '../../api/use-step.ts'

const browserClock: PlayerClock = {
  nowMs: () => performance.now(),
  requestFrame: (onFrame) => {
    const frame = requestAnimationFrame(onFrame)
    return () => cancelAnimationFrame(frame)
  },
}

/** The player of this page. */
export function usePlayer(timeline: Timeline, location: ReplayLocation): Player {
  const [player] = useState(
    () =>
      new Player(timeline, browserClock, {
        ...openingState(timeline, location.getSearch()),
        isSkippingIdle: initialSkipIdle(timeline),
      }),
  )
  useLayoutEffect(() => {
    if (player.timeline !== timeline) player.setTimeline(timeline)
  }, [player, timeline])
  useEffect(() => () => player.pause(), [player])
  return player
}

/** Where the page opens: at the linked step or time, at the live end, on the failure, or at the start. */
export function openingState(timeline: Timeline, link: { step?: string; t?: number }): PlayerStart {
  const linked = link.step === undefined ? undefined : timeline.positionOf.get(link.step)
  if (linked !== undefined)
    return { stepId: timeline.steps[linked]!.id, positionMs: link.t ?? timeline.startsMs[linked]! }
  if (link.t !== undefined)
    return { positionMs: Math.min(link.t, timeline.durationMs), ...stepUnder(timeline, link.t) }
  if (timeline.session.endState === 'running') return { isFollowing: true }
  const failure = findFailure(timeline)
  if (failure === undefined) return {}
  return { stepId: failure.id, positionMs: timeline.startsMs[timeline.positionOf.get(failure.id)!]! }
}

function stepUnder(timeline: Timeline, timeMs: number): { stepId?: string } {
  const step = timeline.steps[Math.max(0, positionAt(timeline, timeMs))]
  return step === undefined ? {} : { stepId: step.id }
}

export function useSkippingIdle(player: Player): boolean {
  return useSyncExternalStore(player.subscribe, () => player.getState().isSkippingIdle)
}

const KEY = 'playhead.skip-idle'

/** The last choice of the user; without one, sessions that mostly waited skip idle time. */
function initialSkipIdle(timeline: Timeline): boolean {
  const choice = readChoice()
  return choice ?? isMostlyIdle(timeline.durationMs, findIdleGaps(timeline))
}

export function saveSkipIdle(isOn: boolean): void {
  try {
    localStorage.setItem(KEY, isOn ? 'on' : 'off')
  } catch {
    // A page opened from disk may have no storage.
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

const STEPS_AHEAD = 4

/** Loads the next steps while playing, before the playhead reaches them. */
export function usePrefetchAhead(player: Player, sessionId: string): void {
  const prefetch = usePrefetchSteps(sessionId)
  const latest = useRef(prefetch)
  latest.current = prefetch
  useEffect(() => {
    let last = -1
    return player.subscribe(() => {
      const { motion, stepId, speed } = player.getState()
      if (motion !== 'playing' || stepId === undefined) return
      const position = player.timeline.positionOf.get(stepId) ?? 0
      // At high speed nobody reads every step, and the steps that are shown load anyway.
      if (position <= last || speed > 2) return
      last = position
      latest.current(player.timeline.steps.slice(position, position + STEPS_AHEAD))
    })
  }, [player])
}
