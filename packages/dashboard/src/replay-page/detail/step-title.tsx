import { Fragment, type ReactNode } from 'react'
import { describeCost, formatCount, visibleText, type Step } from '@playhead/model'
import { CopyAction } from '../../ui/controls/copy-action.tsx'
import { KindIcon } from '../steps/kind-icon.tsx'
import { findFailure } from '../playback/opening-step.ts'
import { placeOf } from './stack-trace.ts'
import { useReplay } from '../playback/replay-context.ts'
import { kindLooks } from '../../session-facts/kind-looks.ts'
import { durationOf, outcomeOf, titleOf } from '../steps/step-text.ts'
import { isFailed, type Timeline } from '../playback/timeline.ts'

/** The name of a step and, below it, what can be said in one line. */
export function StepTitle({ step }: { step: Step }) {
  const { timeline, location } = useReplay()
  const facts = factsOf(step, timeline)
  return (
    <header className="step-title">
      <h2>
        <KindIcon kind={step.kind} isBad={isFailed(step) && step.error?.isPropagated !== true} size={16} />
        <span className="step-title-name">{visibleText(titleOf(step))}</span>
        <CopyAction label="Copy a link to this step" read={() => location.linkTo({ step: step.id })} />
      </h2>
      <p className="dim">
        {facts.map((fact, index) => (
          <Fragment key={index}>
            {index > 0 && ' · '}
            {fact}
          </Fragment>
        ))}
      </p>
    </header>
  )
}

function factsOf(step: Step, timeline: Timeline): ReactNode[] {
  const isRunning = timeline.session.endState === 'running'
  const outcome = outcomeOf(step, { isFatal: findFailure(timeline)?.id === step.id, isRunning })
  const place = step.error?.stack === undefined ? undefined : placeOf(step.error.stack)
  const { input, output } = step.usage ?? {}
  const facts: (ReactNode | undefined)[] = [
    kindLooks[step.kind].word,
    step.effect === undefined ? undefined : step.effect === 'read' ? 'reads' : 'writes',
    step.kind !== 'agent' && step.agent !== undefined ? `in ${visibleText(step.agent)}` : undefined,
    durationOf(step) || undefined,
    step.cost === null ? undefined : describeCost(step.cost, []),
    input === undefined && output === undefined
      ? undefined
      : `${input === undefined ? '?' : formatCount(input)} in, ${output === undefined ? '?' : formatCount(output)} out`,
    step.attempt !== undefined && step.attempt > 1 ? `attempt ${step.attempt}` : undefined,
    outcome === '' ? undefined : (
      <span className={isFailed(step) ? 'step-title-bad' : undefined}>{outcome}</span>
    ),
    place === undefined ? undefined : <span className="mono">{visibleText(place)}</span>,
  ]
  return facts.filter((fact) => fact !== undefined)
}
