import { startTransition, useEffect, useState } from 'react'
import type { Step } from '@playhead/model'
import { useStep } from '../../api/use-step.ts'
import { usePlayerState, useReplay } from './replay-context.ts'

/** While the playhead moves, the detail follows a few times a second: nobody reads faster, and nothing stutters. */
const FOLLOWED_EVERY_MS = 120

/** The step whose detail is shown. */
export function useShownStepId(): string | undefined {
  const { player } = useReplay()
  const [shown, setShown] = useState(() => player.getState().stepId)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const apply = () => {
      timer = undefined
      startTransition(() => setShown(player.getState().stepId))
    }
    const onChange = () => {
      const { motion, stepId } = player.getState()
      if (motion !== 'still') {
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

/** The step with its payload as soon as that is there. Nothing is asked for while the playhead is dragged past. */
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

/**
 * What of a step is still to come when the playhead is inside it. A step that is looked at as such, with the playhead at
 * its very start, is shown whole.
 */
export function useIsAhead(step: Step): boolean {
  return usePlayerState(({ motion, positionMs }) => {
    if (motion === 'still' && positionMs === Math.max(0, step.offsetMs)) return false
    if (positionMs === 0) return false
    const endMs = step.durationMs === null ? Infinity : step.offsetMs + step.durationMs
    return endMs !== Infinity && positionMs < endMs
  })
}
