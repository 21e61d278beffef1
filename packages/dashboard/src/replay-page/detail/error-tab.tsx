import type { Step } from '@playhead/model'
import { ActionArguments } from './action-arguments.tsx'
import { DetailSection } from './sections.tsx'
import { ErrorBox } from './error-box.tsx'
import { findErrorTrail } from '../playback/failures.ts'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'
import { useFullStep } from '../playback/shown-step.ts'
import { ValueTrail } from './provenance.tsx'

/** The error in full: what, where, which step it came from, what that step received, how far up it went. */
export function ErrorTab({ step }: { step: Step }) {
  const { timeline } = useReplay()
  const position = timeline.positionOf.get(step.id) ?? -1
  const trail = findErrorTrail(timeline, position)
  const owner = useFullStep(trail === undefined ? undefined : timeline.steps[trail.owner])
  if (step.error === undefined || trail === undefined)
    return (
      <div className="detail-section">
        <p className="dim">This step did not fail.</p>
      </div>
    )
  const isOwner = trail.owner === position
  return (
    <>
      <DetailSection
        title="Error"
        {...(step.error.isHandled === true && { note: 'handled: the session went on' })}
      >
        <ErrorBox error={step.error} frames={12} />
      </DetailSection>
      {!isOwner && (
        <DetailSection title="Came from">
          <StepLink position={trail.owner} />
          {owner.step?.error !== undefined && <ErrorBox error={owner.step.error} frames={6} />}
        </DetailSection>
      )}
      {owner.step?.kind === 'action' && (
        <DetailSection title={isOwner ? 'It received' : 'That step received'}>
          <ActionArguments step={owner.step} />
        </DetailSection>
      )}
      {owner.step?.kind === 'action' && <ValueTrail step={owner.step} />}
      {trail.passedOn.length > 0 && (
        <DetailSection title="Passed on by">
          <ol className="error-path">
            {trail.passedOn.map((above) => (
              <li key={above}>{above === position ? <b>this step</b> : <StepLink position={above} />}</li>
            ))}
          </ol>
        </DetailSection>
      )}
    </>
  )
}
