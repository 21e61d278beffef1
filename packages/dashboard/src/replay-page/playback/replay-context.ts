import { createContext, useContext, useSyncExternalStore } from 'react'
import type { TimeRange, TimeAxis } from './time-axis.ts'
import type { Player, PlayerState } from './player.ts'
import type { ReplayLocation } from './replay-location.ts'
import type { RunningTotals } from './running-totals.ts'
import type { Timeline } from './timeline.ts'

/** What every part of the page needs. */
export type Replay = {
  timeline: Timeline
  totals: RunningTotals
  /** Positions of the model calls. */
  llmCalls: readonly number[]
  idleGaps: readonly TimeRange[]
  axis: TimeAxis
  player: Player
  location: ReplayLocation
  /** Looks at a step, wherever it is folded away. */
  goTo: (stepId: string) => void
}

const ReplayContext = createContext<Replay | undefined>(undefined)

export const ReplayProvider = ReplayContext.Provider

export function useReplay(): Replay {
  const replay = useContext(ReplayContext)
  if (replay === undefined) throw new Error('There is no ReplayProvider above.')
  return replay
}

/** Something of the player's state. Only a change of what is selected draws again, so select little. */
export function usePlayerState<Value>(select: (state: PlayerState) => Value): Value {
  const { player } = useReplay()
  return useSyncExternalStore(player.subscribe, () => select(player.getState()))
}

/** The playhead rests at the start until somebody moves it: nothing is dimmed then. */
export function isAtRest({ positionMs, motion }: PlayerState): boolean {
  return positionMs === 0 && motion !== 'playing' && motion !== 'scrubbing'
}
