import type { ReactNode } from 'react'
import { hasFailed, visibleText, type Message, type Step } from '@playhead/model'
import { ActionArguments } from './action-arguments.tsx'
import { DetailSection, OutputSection, StepErrorSection } from './sections.tsx'
import { MessageView } from '../conversation/message.tsx'
import { MissingContent } from '../steps/missing-content.tsx'
import { ModelCall } from './model-call.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { RetrievedDocuments } from './retrieved-documents.tsx'
import { useIsAhead } from '../playback/shown-step.ts'
import { ValueTrail } from './provenance.tsx'
import { ValueView } from '../conversation/value-view.tsx'
import { KindMark } from '../../session-facts/kind-mark.tsx'
import { durationOf, previewOf, titleOf } from '../steps/step-text.ts'
import type { Timeline } from '../playback/timeline.ts'
import './steps-inside.css'

/** What went into a step, what came out of it, and what went wrong in between. */
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
      <DetailSection title="Input">
        <ActionArguments step={step} />
      </DetailSection>
      <ValueTrail step={step} />
      <StepErrorSection step={step} />
      <OutputSection step={step} output={step.tool?.result === undefined ? step.output : step.tool.result} />
    </>
  )
}

/** An agent that recorded what it was asked and answered as messages. */
function Exchange({ step, messages }: { step: Step; messages: readonly Message[] }) {
  const { timeline } = useReplay()
  const isAhead = useIsAhead(step)
  const call = timeline.positionOf.get(step.id) ?? 0
  const draw = (isOutput: boolean) =>
    messages
      .filter((message) => (message.isOutput === true) === isOutput)
      .slice(-6)
      .map((message, index) => <MessageView key={index} message={message} call={call} />)
  return (
    <>
      <DetailSection title="Input">{draw(false)}</DetailSection>
      <StepErrorSection step={step} />
      <DetailSection title="Output">
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
            {guardrail.isTriggered === true ? 'was triggered: it stopped what it guards' : 'let it pass'}
          </p>
        </DetailSection>
      )}
      {step.input !== undefined && (
        <DetailSection title="Input">
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

const MOST_SHOWN = 40

/** What a step that recorded nothing of its own did: the steps right below it. */
function StepsInside({ step }: { step: Step }) {
  const { timeline, goTo } = useReplay()
  const inside = findInside(timeline, step.id)
  if (inside.length === 0)
    return step.error === undefined ? (
      <DetailSection title="Input and output">
        <p className="dim">none was recorded</p>
      </DetailSection>
    ) : null
  return (
    <DetailSection title="What it did">
      <ol className="steps-inside">
        {inside.slice(0, MOST_SHOWN).map((child) => (
          <li key={child.id}>
            <button type="button" onClick={() => goTo(child.id)}>
              <KindMark kind={child.kind} isBad={hasFailed(child)} />
              <b>{visibleText(titleOf(child))}</b>
              <span className="dim">{visibleText(previewOf(child))}</span>
              <span className="mono">{durationOf(child)}</span>
            </button>
          </li>
        ))}
      </ol>
      {inside.length > MOST_SHOWN && (
        <p className="dim">and {(inside.length - MOST_SHOWN).toLocaleString('en-US')} more, in the list</p>
      )}
    </DetailSection>
  )
}

/** The steps right below one, in the order of their starts. */
function findInside({ steps, parents, positionOf }: Timeline, stepId: string): Step[] {
  const above = positionOf.get(stepId)
  if (above === undefined) return []
  return steps.filter((_, position) => parents[position] === above)
}
