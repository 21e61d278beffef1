import { useEffect, useState, useSyncExternalStore } from 'react'
import type { Step } from '@playhead/model'
import { useSessionSource } from '../../api/session-source.ts'
import { StepPreviews } from '../../api/step-previews.ts'
import { useReplay } from './replay-context.ts'

/** The previews of this page. */
export function usePreviews(sessionId: string): StepPreviews {
  const source = useSessionSource()
  const [previews] = useState(() => new StepPreviews(source, sessionId))
  useEffect(() => () => previews.stop(), [previews])
  return previews
}

/** Completes steps with their previews. The component re-renders when some arrive. */
export function useCompletedSteps(): (step: Step) => Step {
  const { previews } = useReplay()
  useSyncExternalStore(previews.subscribe, previews.getVersion)
  return previews.of
}
