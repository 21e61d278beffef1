import { useEffect, useRef } from 'react'
import { usePrefetchSteps } from '../../api/use-step.ts'
import type { Player } from './player.ts'

const STEPS_AHEAD = 4

/** While it plays, the steps to come are loaded before the playhead reaches them. */
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
      // At ten times the speed nobody reads every step; those that are looked at load by themselves.
      if (position <= last || speed > 2) return
      last = position
      latest.current(player.timeline.steps.slice(position, position + STEPS_AHEAD))
    })
  }, [player])
}
