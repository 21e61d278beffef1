import { formatOffset, type Step } from '@playhead/model'
import { DetailSection } from './sections.tsx'
import { useIsAhead } from '../playback/shown-step.ts'
import { ValueView } from '../conversation/value-view.tsx'

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
