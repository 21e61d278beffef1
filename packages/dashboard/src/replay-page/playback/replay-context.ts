import type { Finding, MissingCosts, Suspect } from '@playhead/model'
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { LoadedSession } from '../../api/session-source.ts'
import type { StepPreviews } from '../../api/step-previews.ts'
import type { TimeRange, TimeAxis } from './time-axis.ts'
import type { Player, PlayerState } from './player.ts'
import type { ReplayLocation } from './replay-location.ts'
import type { RunningTotals } from './running-totals.ts'
import type { Timeline } from './timeline.ts'

/** What the components of the replay page share. */
export type Replay = {
  timeline: Timeline
  totals: RunningTotals
  /** Why the cost is not complete. */
  missingCosts: MissingCosts
  /** Positions of the model calls. */
  llmCalls: readonly number[]
  idleGaps: readonly TimeRange[]
  axis: TimeAxis
  player: Player
  location: ReplayLocation
  /** What the steps of a long session lack at first. */
  previews: StepPreviews
  /** What went wrong: the steps that evidence speaks against, and the evidence. */
  suspects: readonly Suspect[]
  findings: readonly Finding[]
  /** What keeps the session from being run again; undefined if that is not known. */
  tapeGaps: LoadedSession['tapeGaps']
  /** Opens the dialog that runs the agent from a step; undefined without a server. */
  runFrom: ((stepId: string | undefined) => void) | undefined
  /** Opens the dialog that makes a test of the session; undefined without a server. */
  makeTest: (() => void) | undefined
  /** Whether the session was shared without what was said in it. */
  isContentLeftOut: boolean
  /** Selects a step and unfolds whatever hides it. */
  goTo: (stepId: string) => void
}

const ReplayContext = createContext<Replay | undefined>(undefined)

export const ReplayProvider = ReplayContext.Provider

export function useReplay(): Replay {
  const replay = useContext(ReplayContext)
  if (replay === undefined) throw new Error('useReplay needs a ReplayProvider above it.')
  return replay
}

/** A part of the player's state. The component re-renders only when the selected value changes. */
export function usePlayerState<Value>(select: (state: PlayerState) => Value): Value {
  const { player } = useReplay()
  return useSyncExternalStore(player.subscribe, () => select(player.getState()))
}

/** The playhead rests at the start until someone moves it; nothing is dimmed then. */
export function isAtRest({ positionMs, motion }: PlayerState): boolean {
  return positionMs === 0 && motion !== 'playing' && motion !== 'scrubbing'
}
