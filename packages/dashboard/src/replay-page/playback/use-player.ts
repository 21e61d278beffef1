import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react'
import { openingOf } from './opening-step.ts'
import { Player, type PlayerClock } from './player.ts'
import type { ReplayLocation } from './replay-location.ts'
import { chooseSkippingIdle } from './skip-idle-choice.ts'
import type { Timeline } from './timeline.ts'

const browserClock: PlayerClock = {
  nowMs: () => performance.now(),
  requestFrame: (onFrame) => {
    const frame = requestAnimationFrame(onFrame)
    return () => cancelAnimationFrame(frame)
  },
}

/** The player of this page. It opens where the address says, on the failure, or at the start. */
export function usePlayer(timeline: Timeline, location: ReplayLocation): Player {
  const [player] = useState(
    () =>
      new Player(timeline, browserClock, {
        ...openingOf(timeline, location.getSearch()),
        isSkippingIdle: chooseSkippingIdle(timeline),
      }),
  )
  useLayoutEffect(() => {
    if (player.timeline !== timeline) player.setTimeline(timeline)
  }, [player, timeline])
  useEffect(() => () => player.pause(), [player])
  return player
}

export function useSkippingIdle(player: Player): boolean {
  return useSyncExternalStore(player.subscribe, () => player.getState().isSkippingIdle)
}
