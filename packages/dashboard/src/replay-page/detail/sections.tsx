import type { ReactNode } from 'react'
import { formatOffset, type Step } from '@playhead/model'
import { useIsAhead } from '../playback/shown-step.ts'
import { ValueView } from '../conversation/value-view.tsx'
import { ErrorBox } from './error-box.tsx'
import { findErrorTrail } from '../playback/failures.ts'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'

export function DetailSection({
  title,
  note,
  children,
}: {
  title: string
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="detail-section">
      <h3>
        {title}
        {note !== undefined && <span className="detail-note">{note}</span>}
      </h3>
      {children}
    </section>
  )
}

export function OutputSection({
  step,
  output,
  isProse = false,
}: {
  step: Step
  output: unknown
  isProse?: boolean
}) {
  const isAhead = useIsAhead(step)
  const endMs = step.durationMs === null ? undefined : step.offsetMs + step.durationMs
  const note = isAhead && endMs !== undefined ? { note: `arrives at ${formatOffset(endMs)}` } : {}
  return (
    <DetailSection title="Output" {...note}>
      <div className={isAhead ? 'is-ahead' : undefined}>
        {output === undefined ? (
          <p className="dim">{whyNoOutput(step)}</p>
        ) : (
          <div className="boxed">
            <ValueView value={output} isProse={isProse} />
          </div>
        )}
      </div>
    </DetailSection>
  )
}

function whyNoOutput(step: Step): string {
  if (step.status === 'error') return 'none: it failed'
  if (step.status === 'running') return 'none yet'
  return 'none was recorded'
}

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
