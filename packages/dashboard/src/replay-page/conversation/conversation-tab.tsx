import { useMemo, type ReactNode } from 'react'
import {
  countOf,
  formatOffset,
  visibleText,
  type Message,
  type Step,
  type ToolDefinition,
} from '@playhead/model'
import { ErrorNotice } from '../../ui/data/error-notice.tsx'
import { JsonTree } from '../../ui/data/json-tree.tsx'
import { SkeletonLines } from '../../ui/data/skeleton.tsx'
import { callOf, previousCall } from './model-calls.ts'
import { MessageView } from './message.tsx'
import { MissingContent } from '../steps/missing-content.tsx'
import { compareConversation, type SentMessage } from './new-messages.ts'
import { usePlayerState, useReplay } from '../playback/replay-context.ts'
import { StepLink } from '../steps/step-link.tsx'
import { StreamedAnswer, useArrivedCount } from './streamed-answer.tsx'
import { useFullStep, useIsPlayheadInside } from '../playback/shown-step.ts'
import { ValueView } from '../../ui/data/value-view.tsx'
import './conversation-tab.css'

const MESSAGES_SHOWN = 60

/** The messages exactly as the model saw them at a call, with the new ones marked. */
export function ConversationTab({ step }: { step: Step }) {
  const { timeline, llmCalls } = useReplay()
  const position = timeline.positionOf.get(step.id) ?? -1
  const isInside = useIsPlayheadInside(step)
  const call = usePlayerState(({ positionMs }) =>
    callOf(timeline, llmCalls, position, isInside ? positionMs : Infinity),
  )
  if (call === undefined)
    return (
      <div className="conversation">
        <p className="dim">{whyNoCall(llmCalls, isInside)}</p>
        {llmCalls.length > 0 && <StepLink position={llmCalls[0]!} />}
      </div>
    )
  return (
    <div className="conversation">
      {call !== position && (
        <p className="conversation-of dim">
          As the model saw it at <StepLink position={call} text={formatOffset(timeline.startsMs[call]!)} />
        </p>
      )}
      <CallConversation key={call} call={call} />
    </div>
  )
}

function whyNoCall(llmCalls: readonly number[], isPlayheadInside: boolean): string {
  if (llmCalls.length === 0) return 'No model calls in this session.'
  return isPlayheadInside ? 'No model call has begun at the playhead.' : 'No model calls before this step.'
}

function CallConversation({ call }: { call: number }) {
  const { timeline, llmCalls } = useReplay()
  const before = previousCall(timeline, llmCalls, call)
  const { step, isLoading, error } = useFullStep(timeline.steps[call])
  const previous = useFullStep(before === undefined ? undefined : timeline.steps[before])
  const messages = step?.messages
  const earlier = previous.step?.messages
  const conversation = useMemo(
    () => (messages === undefined ? undefined : compareConversation(messages, earlier)),
    [messages, earlier],
  )
  if (error !== null) return <ErrorNotice error={error} />
  if (isLoading || step === undefined) return <SkeletonLines count={8} />
  if (conversation === undefined) return <WithoutMessages step={step} />
  const newCount = conversation.sent.filter(({ isNew }) => isNew).length
  return (
    <>
      <MissingContent step={step} />
      <ToolDefinitions tools={step.toolDefinitions} />
      {before !== undefined && earlier !== undefined && (
        <p className="conversation-of dim">
          {newCount === 0 ? 'No new messages' : countOf(newCount, 'new message')} since{' '}
          <StepLink position={before} text={formatOffset(timeline.startsMs[before]!)} />
          {conversation.droppedCount > 0 &&
            `, ${countOf(conversation.droppedCount, 'earlier message')} dropped`}
        </p>
      )}
      <SentMessages sent={conversation.sent} call={call} />
      <AnsweredMessages step={step} call={call} answers={conversation.answered} />
    </>
  )
}

/** A very long conversation starts folded: the model acted on its end. */
function SentMessages({ sent, call }: { sent: readonly SentMessage[]; call: number }) {
  const hidden = Math.max(0, sent.length - MESSAGES_SHOWN)
  const draw = ({ message, isNew }: SentMessage, index: number): ReactNode => (
    <MessageView key={index} message={message} call={call} isNew={isNew} />
  )
  return (
    <>
      {hidden > 0 && (
        <details className="conversation-earlier">
          <summary>{countOf(hidden, 'earlier message')}</summary>
          {sent.slice(0, hidden).slice(0, 500).map(draw)}
        </details>
      )}
      {sent.slice(hidden).map((message, index) => draw(message, hidden + index))}
    </>
  )
}

function AnsweredMessages({
  step,
  call,
  answers,
}: {
  step: Step
  call: number
  answers: readonly Message[]
}) {
  const isAhead = useIsPlayheadInside(step)
  const arrivedCount = useArrivedCount(step)
  if (arrivedCount !== undefined)
    return (
      <article className="message is-assistant">
        <header className="message-head">
          <b>assistant</b>
          <span className="message-new">streaming</span>
        </header>
        <StreamedAnswer step={step} arrivedCount={arrivedCount} />
      </article>
    )
  return (
    <div className={isAhead ? 'is-ahead' : undefined}>
      {answers.map((message, index) => (
        <MessageView key={index} message={message} call={call} />
      ))}
      {answers.length === 0 && step.status === 'running' && <p className="dim">No answer yet</p>}
    </div>
  )
}

/** Some senders record plain input and output instead of messages. */
function WithoutMessages({ step }: { step: Step }) {
  if (step.input === undefined && step.output === undefined) return <MissingContent step={step} />
  return (
    <>
      {step.input !== undefined && <ValueView value={step.input} isProse />}
      {step.output !== undefined && <ValueView value={step.output} isProse />}
    </>
  )
}

function ToolDefinitions({ tools }: { tools: readonly ToolDefinition[] | undefined }) {
  if (tools === undefined || tools.length === 0) return null
  return (
    <details className="tool-definitions">
      <summary>{countOf(tools.length, 'tool')} available</summary>
      {tools.slice(0, 200).map((tool, index) => (
        <details key={index} className="tool-definition">
          <summary>
            <span className="mono">{visibleText(tool.name)}</span>{' '}
            {tool.description !== undefined && (
              <span className="dim">{visibleText(tool.description).slice(0, 160)}</span>
            )}
          </summary>
          {tool.parameters !== undefined && <JsonTree value={tool.parameters} />}
        </details>
      ))}
    </details>
  )
}
