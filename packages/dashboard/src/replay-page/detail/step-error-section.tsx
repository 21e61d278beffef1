import type { Step } from '@playhead/model'
import { DetailSection } from './sections.tsx'
import { ErrorBox } from './error-box.tsx'
import { findErrorTrail } from '../playback/error-owner.ts'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'

/** Of an error that came from below, one line and the way there; of its own, everything that is needed. */
export function StepErrorSection({ step }: { step: Step }) {
  const { timeline } = useReplay()
  if (step.error === undefined) return null
  const position = timeline.positionOf.get(step.id) ?? -1
  const owner = findErrorTrail(timeline, position)?.owner
  const note = step.error.isHandled === true ? { note: 'handled: the session went on' } : {}
  return (
    <DetailSection title="Error" {...note}>
      <ErrorBox error={step.error} />
      {owner !== undefined && owner !== position && (
        <p className="error-from">
          came from <StepLink position={owner} />
        </p>
      )}
    </DetailSection>
  )
}
