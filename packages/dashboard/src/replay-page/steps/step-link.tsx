import { CornerDownRight } from 'lucide-react'
import { stepTitle, visibleText } from '@playhead/model'
import { useReplay } from '../playback/replay-context.ts'

/** A button that selects another step. */
export function StepLink({ position, text }: { position: number; text?: string }) {
  const { timeline, goTo } = useReplay()
  const step = timeline.steps[position]
  if (step === undefined) return null
  return (
    <button type="button" className="step-link" onClick={() => goTo(step.id)}>
      <CornerDownRight size={12} aria-hidden="true" />
      {text ?? visibleText(stepTitle(step))}
      <span className="dim">step {position + 1}</span>
    </button>
  )
}
