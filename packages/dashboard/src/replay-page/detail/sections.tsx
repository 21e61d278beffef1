import type { ReactNode } from 'react'
import { formatOffset, type Step } from '@playhead/model'
import { useIsPlayheadInside } from '../playback/shown-step.ts'
import { ValueView } from '../../ui/data/value-view.tsx'
import { ErrorBox } from './error-box.tsx'
import { findErrorPath } from '../playback/failures.ts'
import { NotRecorded } from '../steps/not-recorded.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'

/** `path`: the part of the step that it shows, as evidence names it. */
export function DetailSection({
  title,
  note,
  path,
  children,
}: {
  title: string
  note?: ReactNode
  path?: string
  children: ReactNode
}) {
  return (
    <section className="detail-section" data-path={path}>
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
  const isAhead = useIsPlayheadInside(step)
  const endMs = step.durationMs === null ? undefined : step.offsetMs + step.durationMs
  const note = isAhead && endMs !== undefined ? { note: `Complete at ${formatOffset(endMs)}` } : {}
  return (
    <DetailSection title="Output" path="output" {...note}>
      <div className={isAhead ? 'is-ahead' : undefined}>
        {output === undefined ? (
          <NoOutput step={step} />
        ) : (
          <div className="boxed">
            <ValueView value={output} isProse={isProse} />
          </div>
        )}
      </div>
    </DetailSection>
  )
}

function NoOutput({ step }: { step: Step }) {
  if (step.status === 'error') return <p className="dim">None: the step failed</p>
  return step.status === 'running' ? <p className="dim">None yet</p> : <NotRecorded />
}

/** The error of a step, with a link to the step that raised it. */
export function StepErrorSection({ step }: { step: Step }) {
  const { timeline } = useReplay()
  if (step.error === undefined) return null
  const position = timeline.positionOf.get(step.id) ?? -1
  const owner = findErrorPath(timeline, position)?.owner
  const note = step.error.isHandled === true ? { note: 'Handled: the session continued' } : {}
  return (
    <DetailSection title="Error" path="error" {...note}>
      <ErrorBox error={step.error} />
      {owner !== undefined && owner !== position && (
        <p className="error-from">
          Raised by <StepLink position={owner} />
        </p>
      )}
    </DetailSection>
  )
}
