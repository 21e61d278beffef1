import { useEffect, type ReactNode } from 'react'
import { hasFailed, stepTitle, visibleText, type Message, type Step } from '@playhead/model'
import { ActionArguments } from './action-arguments.tsx'
import { NotRecorded } from '../steps/not-recorded.tsx'
import { DetailSection, OutputSection, StepErrorSection } from './sections.tsx'
import { MessageView } from '../conversation/message.tsx'
import { MissingContent } from '../steps/missing-content.tsx'
import { ModelCall } from './model-call.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { RetrievedDocuments } from './retrieved-documents.tsx'
import { useCompletedSteps } from '../playback/use-previews.ts'
import { useIsPlayheadInside } from '../playback/shown-step.ts'
import { ValueTrail } from './provenance.tsx'
import { ValueView } from '../../ui/data/value-view.tsx'
import { KindMark } from '../../session-facts/kind-mark.tsx'
import { durationOf, previewOf } from '../steps/step-text.ts'
import type { Timeline } from '../playback/timeline.ts'
import './input-output-tab.css'

/** The input, output and error of a step. */
export function InputOutputTab({ step }: { step: Step }) {
  return (
    <>
      <MissingContent step={step} />
      {drawKind(step)}
    </>
  )
}

function drawKind(step: Step): ReactNode {
  switch (step.kind) {
    case 'llm':
      return <ModelCall step={step} />
    case 'action':
      return <ActionContent step={step} />
    case 'retrieval':
      return <RetrievedDocuments step={step} />
    default:
      return <PlainContent step={step} />
  }
}

function ActionContent({ step }: { step: Step }) {
  return (
    <>
      <DetailSection title="Input" path="arguments input">
        <ActionArguments step={step} />
      </DetailSection>
      <ValueTrail step={step} />
      <StepErrorSection step={step} />
      <OutputSection step={step} output={step.tool?.result === undefined ? step.output : step.tool.result} />
    </>
  )
}

/** An agent whose input and output were recorded as messages. */
function Exchange({ step, messages }: { step: Step; messages: readonly Message[] }) {
  const { timeline } = useReplay()
  const isAhead = useIsPlayheadInside(step)
  const call = timeline.positionOf.get(step.id) ?? 0
  const draw = (isOutput: boolean) =>
    messages
      .filter((message) => (message.isOutput === true) === isOutput)
      .slice(-6)
      .map((message, index) => <MessageView key={index} message={message} call={call} />)
  return (
    <>
      <DetailSection title="Input" path="input">
        {draw(false)}
      </DetailSection>
      <StepErrorSection step={step} />
      <DetailSection title="Output" path="output">
        <div className={isAhead ? 'is-ahead' : undefined}>{draw(true)}</div>
      </DetailSection>
    </>
  )
}

function PlainContent({ step }: { step: Step }) {
  const { handoff, guardrail } = step
  if (step.messages !== undefined && step.input === undefined && step.output === undefined)
    return <Exchange step={step} messages={step.messages} />
  const isProse = step.kind === 'agent' || step.kind === 'workflow'
  return (
    <>
      {handoff !== undefined && (
        <DetailSection title="Handoff">
          <p>
            <b>{visibleText(handoff.from ?? 'unknown')}</b> → <b>{visibleText(handoff.to ?? 'unknown')}</b>
          </p>
        </DetailSection>
      )}
      {guardrail !== undefined && (
        <DetailSection title="Guardrail">
          <p>
            {guardrail.name !== undefined && <b>{visibleText(guardrail.name)} </b>}
            {guardrail.isTriggered === true ? 'blocked it' : 'passed'}
          </p>
        </DetailSection>
      )}
      {step.input !== undefined && (
        <DetailSection title="Input" path="input">
          <ValueView value={step.input} isProse={isProse} />
        </DetailSection>
      )}
      <StepErrorSection step={step} />
      {(step.input !== undefined || step.output !== undefined) && (
        <OutputSection step={step} output={step.output} isProse={isProse} />
      )}
      {step.input === undefined && step.output === undefined && <StepsInside step={step} />}
    </>
  )
}

const MAX_SHOWN = 40

/** The children of a step that has no input or output of its own. */
function StepsInside({ step }: { step: Step }) {
  const { timeline, previews, goTo } = useReplay()
  const complete = useCompletedSteps()
  const inside = findInside(timeline, step.id)
  useEffect(() => void previews.load(inside.slice(0, MAX_SHOWN)))
  if (inside.length === 0)
    return step.error === undefined ? (
      <DetailSection title="Input and output">
        <NotRecorded />
      </DetailSection>
    ) : null
  return (
    <DetailSection title="Steps inside">
      <ol className="steps-inside">
        {inside.slice(0, MAX_SHOWN).map((child) => (
          <li key={child.id}>
            <button type="button" onClick={() => goTo(child.id)}>
              <KindMark kind={child.kind} isBad={hasFailed(child)} />
              <b>{visibleText(stepTitle(child))}</b>
              <span className="dim">{visibleText(previewOf(complete(child)))}</span>
              <span className="mono">{durationOf(child)}</span>
            </button>
          </li>
        ))}
      </ol>
      {inside.length > MAX_SHOWN && (
        <p className="dim">{(inside.length - MAX_SHOWN).toLocaleString('en-US')} more in the list</p>
      )}
    </DetailSection>
  )
}

/** The children of a step, in start order. */
function findInside({ steps, parents, positionOf }: Timeline, stepId: string): Step[] {
  const above = positionOf.get(stepId)
  if (above === undefined) return []
  return steps.filter((_, position) => parents[position] === above)
}
