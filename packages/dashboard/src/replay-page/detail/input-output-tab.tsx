import type { ReactNode } from 'react'
import { visibleText, type Message, type Step } from '@playhead/model'
import { ActionArguments } from './action-arguments.tsx'
import { DetailSection } from './sections.tsx'
import { MessageView } from '../conversation/message.tsx'
import { MissingContent } from '../steps/missing-content.tsx'
import { ModelCall } from './model-call.tsx'
import { OutputSection } from './output-section.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { RetrievedDocuments } from './retrieved-documents.tsx'
import { StepErrorSection } from './step-error-section.tsx'
import { StepsInside } from './steps-inside.tsx'
import { useIsAhead } from '../playback/shown-step.ts'
import { ValueOrigins } from './value-origins.tsx'
import { ValueView } from '../conversation/value-view.tsx'

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
      <ValueOrigins step={step} />
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
