import type { ReactNode } from 'react'
import {
  countOf,
  endOffsetMs,
  formatCost,
  formatCount,
  formatOffset,
  isOutputUnknown,
  NO_OUTPUT,
  NO_USAGE,
  visibleText,
  type Message,
  type Step,
} from '@playhead/model'
import { contextWindowOf } from '../playback/context-window.ts'
import { NotRecorded } from '../steps/not-recorded.tsx'
import { DetailSection, OutputSection, StepErrorSection } from './sections.tsx'
import { MessageView } from '../conversation/message.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { formatStepDuration } from '../steps/step-text.ts'
import { StreamedAnswer, useArrivedCount } from '../conversation/streamed-answer.tsx'
import { useIsPlayheadInside } from '../playback/shown-step.ts'
import { ValueView } from '../../ui/data/value-view.tsx'

/** A model call: the latest input, the answer and the settings. */
export function ModelCall({ step }: { step: Step }) {
  const { timeline } = useReplay()
  const call = timeline.positionOf.get(step.id) ?? 0
  const sent = step.messages?.filter((message) => message.isOutput !== true)
  const last = latestInput(sent)
  return (
    <>
      <DetailSection
        title="Input"
        path="input"
        {...(sent !== undefined &&
          sent.length > 1 && {
            note: `Last of ${countOf(sent.length, 'message')}; Conversation shows them all`,
          })}
      >
        {last === undefined ? (
          <OptionalValue value={step.input} />
        ) : (
          last.map((message, index) => <MessageView key={index} message={message} call={call} />)
        )}
      </DetailSection>
      <StepErrorSection step={step} />
      <AnswerSection step={step} call={call} />
      <CallFacts step={step} />
    </>
  )
}

/** The last user message, or the results of the last round of tool calls. */
function latestInput(sent: readonly Message[] | undefined): Message[] | undefined {
  if (sent === undefined || sent.length === 0) return undefined
  const lastAnswer = sent.findLastIndex((message) => message.role === 'assistant')
  const since = sent.slice(lastAnswer + 1).filter((message) => message.role !== 'system')
  return since.length > 0 ? since.slice(-4) : sent.slice(-1)
}

function OptionalValue({ value }: { value: unknown }) {
  return value === undefined ? <NotRecorded /> : <ValueView value={value} isProse />
}

function AnswerSection({ step, call }: { step: Step; call: number }) {
  const isAhead = useIsPlayheadInside(step)
  const arrivedCount = useArrivedCount(step)
  const answers = step.messages?.filter((message) => message.isOutput === true) ?? []
  if (answers.length === 0 && arrivedCount === undefined)
    return <OutputSection step={step} output={step.output} isProse />
  const endMs = endOffsetMs(step)
  return (
    <DetailSection
      title="Output"
      path="output"
      {...(isAhead && { note: `Complete at ${formatOffset(endMs)}` })}
    >
      {arrivedCount === undefined ? (
        <div className={isAhead ? 'is-ahead' : undefined}>
          {answers.map((message, index) => (
            <MessageView key={index} message={message} call={call} />
          ))}
        </div>
      ) : (
        <div className="boxed">
          <StreamedAnswer step={step} arrivedCount={arrivedCount} />
        </div>
      )}
    </DetailSection>
  )
}

function CallFacts({ step }: { step: Step }) {
  const { callsWithoutUsage } = useReplay().missingCosts
  const facts = factsOf(
    step,
    callsWithoutUsage.some(({ id }) => id === step.id),
  )
  return (
    <DetailSection title="Call">
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name} data-path={name === FINISH_REASON ? 'finishReasons' : undefined}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </DetailSection>
  )
}

const FINISH_REASON = 'Finish reason'

function factsOf(step: Step, hasNoUsage: boolean): [name: string, value: ReactNode][] {
  const { usage = {}, streaming, finishReasons, parameters } = step
  const facts: [string, ReactNode][] = []
  const add = (name: string, value: ReactNode) => facts.push([name, value])
  const addTokens = (name: string, tokens: number | undefined) =>
    tokens !== undefined && add(name, formatCount(tokens))
  if (step.model !== undefined) add('Model', visibleText(step.model))
  if (step.requestedModel !== undefined) add('Requested model', visibleText(step.requestedModel))
  if (step.provider !== undefined) add('Provider', visibleText(step.provider))
  addTokens('Input tokens', usage.input)
  addTokens('Cached', usage.cacheRead)
  addTokens('Cache writes', usage.cacheWrite)
  addTokens('Output tokens', usage.output)
  addTokens('Reasoning', usage.reasoning)
  const windowTokens = contextWindowOf(step.model ?? step.requestedModel ?? '')
  if (windowTokens !== undefined && usage.input !== undefined)
    add('Context', `${((usage.input / windowTokens) * 100).toFixed(1)}% of ${formatCount(windowTokens)}`)
  const missing = [...(hasNoUsage ? [NO_USAGE] : []), ...(isOutputUnknown(step) ? [NO_OUTPUT] : [])]
  add(
    'Cost',
    step.cost === null
      ? ['Unknown', ...(missing.length > 0 ? [missing.join(', ')] : [])].join(': ')
      : `${formatCost(step.cost)}${step.costSource === 'reported' ? ' (reported)' : ''}${isOutputUnknown(step) ? ` + unknown: ${NO_OUTPUT}` : ''}`,
  )
  if (streaming?.firstTokenMs !== undefined)
    add('Time to first token', formatStepDuration(streaming.firstTokenMs))
  if (finishReasons !== undefined && finishReasons.length > 0)
    add(FINISH_REASON, visibleText(finishReasons.join(', ')))
  for (const [name, value] of Object.entries(parameters ?? {}).slice(0, 20))
    add(
      visibleText(name),
      visibleText(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200),
    )
  return facts
}
