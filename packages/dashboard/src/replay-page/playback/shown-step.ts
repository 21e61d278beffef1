import { startTransition, useEffect, useState } from 'react'
import type { Step } from '@playhead/model'
import { useStep } from '../../api/use-step.ts'
import { usePlayerState, useReplay } from './replay-context.ts'

/** While the playhead moves, the detail updates a few times a second: nobody reads faster, and nothing stutters. */
const FOLLOWED_EVERY_MS = 120
/** A hand that drags the playhead sees the list and the timeline. The detail waits until the hand rests, but not for ever. */
const SCRUBBED_EVERY_MS = 500

/** The step in the detail pane. */
export function useShownStepId(): string | undefined {
  const { player } = useReplay()
  const [shown, setShown] = useState(() => player.getState().stepId)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let appliedAtMs = -Infinity
    const apply = () => {
      timer = undefined
      appliedAtMs = performance.now()
      startTransition(() => setShown(player.getState().stepId))
    }
    const wait = (milliseconds: number) => {
      clearTimeout(timer)
      timer = setTimeout(apply, milliseconds)
    }
    const onChange = () => {
      const { motion, stepId } = player.getState()
      if (motion === 'scrubbing')
        return wait(
          Math.max(0, Math.min(FOLLOWED_EVERY_MS, appliedAtMs + SCRUBBED_EVERY_MS - performance.now())),
        )
      if (motion !== 'paused') {
        timer ??= setTimeout(apply, FOLLOWED_EVERY_MS)
        return
      }
      clearTimeout(timer)
      timer = undefined
      setShown(stepId)
    }
    onChange()
    const unsubscribe = player.subscribe(onChange)
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [player])
  return shown
}

/** The step with its payload once that is loaded. Nothing is requested while scrubbing. */
export function useFullStep(step: Step | undefined): {
  step: Step | undefined
  isLoading: boolean
  error: Error | null
} {
  const { timeline } = useReplay()
  const isScrubbing = usePlayerState(({ motion }) => motion === 'scrubbing')
  const query = useStep(timeline.session.id, step, { enabled: !isScrubbing })
  return {
    step: query.data ?? step,
    isLoading: step !== undefined && query.data === undefined && !query.isError,
    error: query.error,
  }
}

/** True while the playhead is inside a step. A step that was selected, with the playhead at its start, counts as complete. */
export function useIsPlayheadInside(step: Step): boolean {
  return usePlayerState(({ motion, positionMs }) => {
    if (motion === 'paused' && positionMs === Math.max(0, step.offsetMs)) return false
    if (positionMs === 0) return false
    const endMs = step.durationMs === null ? Infinity : step.offsetMs + step.durationMs
    return endMs !== Infinity && positionMs < endMs
  })
}
