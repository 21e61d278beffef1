import type { Step } from '@playhead/model'
import { ActionArguments } from './action-arguments.tsx'
import { DetailSection } from './sections.tsx'
import { ErrorBox } from './error-box.tsx'
import { findErrorPath } from '../playback/failures.ts'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'
import { useFullStep } from '../playback/shown-step.ts'
import { ValueTrail } from './provenance.tsx'

/** The full error: which step raised it, what that step received, and which steps passed it on. */
export function ErrorTab({ step }: { step: Step }) {
  const { timeline } = useReplay()
  const position = timeline.positionOf.get(step.id) ?? -1
  const errorPath = findErrorPath(timeline, position)
  const owner = useFullStep(errorPath === undefined ? undefined : timeline.steps[errorPath.owner])
  if (step.error === undefined || errorPath === undefined)
    return (
      <div className="detail-section">
        <p className="dim">This step did not fail.</p>
      </div>
    )
  const isOwner = errorPath.owner === position
  return (
    <>
      <DetailSection
        title="Error"
        path="error"
        {...(step.error.isHandled === true && { note: 'Handled: the session continued' })}
      >
        <ErrorBox error={step.error} frames={12} />
      </DetailSection>
      {!isOwner && (
        <DetailSection title="Raised by">
          <StepLink position={errorPath.owner} />
          {owner.step?.error !== undefined && <ErrorBox error={owner.step.error} frames={6} />}
        </DetailSection>
      )}
      {owner.step?.kind === 'action' && (
        <DetailSection title={isOwner ? 'Arguments' : 'Arguments of that step'}>
          <ActionArguments step={owner.step} />
        </DetailSection>
      )}
      {owner.step?.kind === 'action' && <ValueTrail step={owner.step} />}
      {errorPath.passedOn.length > 0 && (
        <DetailSection title="Passed on by">
          <ol className="error-path">
            {errorPath.passedOn.map((above) => (
              <li key={above}>{above === position ? <b>This step</b> : <StepLink position={above} />}</li>
            ))}
          </ol>
        </DetailSection>
      )}
    </>
  )
}
