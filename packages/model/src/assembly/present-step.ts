import type { LogContent, LogOutline } from '../session/log-draft.ts'
import type { Message } from '../session/message.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { isoTime, readableTime, roundMs } from '../session/session-time.ts'
import type { StepContent } from '../session/step-draft.ts'
import type { LogEntry, Step, StepError, StepTool, Streaming } from '../session/step.ts'

/** A log record, with its content if that was loaded. */
export type SessionLog = LogOutline & { content?: LogContent }

/** Turns a resolved step into the public form. `logs` are the records to show with it. */
export function presentStep(
  step: ResolvedStep,
  session: { startedAtMs: number },
  content?: StepContent,
  logs: readonly SessionLog[] = [],
): Step {
  const presented: Step = {
    id: step.id,
    parentId: step.parentId,
    kind: step.kind,
    name: step.name,
    startedAt: isoTime(step.startedAtMs),
    endedAt: step.endedAtMs === null ? null : isoTime(step.endedAtMs),
    offsetMs: roundMs(step.startedAtMs - session.startedAtMs),
    durationMs: step.endedAtMs === null ? null : roundMs(step.endedAtMs - step.startedAtMs),
    status: step.status,
    hasPayload: content !== undefined,
    cost: step.cost ?? null,
    dialect: step.dialect,
  }
  copyKnown(step, presented)
  if (step.error !== undefined) presented.error = presentError(step.error, content?.error)
  presentTool(step, presented, content)
  presentStreaming(step, presented, content)
  if (content !== undefined) copyContent(content, presented)
  fillFromLogs(presented, step.addedBy ?? [])
  if (logs.length > 0) presented.logs = logs.map((log) => presentLog(log, session))
  return presented
}

const copiedFields = [
  'inputPreview',
  'outputPreview',
  'model',
  'requestedModel',
  'provider',
  'usage',
  'usageScope',
  'agent',
  'effect',
  'source',
  'handoff',
  'guardrail',
  'responseId',
  'finishReasons',
  'attempt',
  'isOrphan',
  'isTruncated',
  'isInferred',
  'changes',
] as const satisfies readonly (keyof ResolvedStep & keyof Step)[]

function copyKnown(step: ResolvedStep, presented: Step): void {
  for (const field of copiedFields) copyField(step, presented, field)
  if (step.costSource !== undefined && step.costSource !== 'no-price') presented.costSource = step.costSource
  if (presented.requestedModel === presented.model) delete presented.requestedModel
}

const contentFields = [
  'input',
  'output',
  'messages',
  'toolDefinitions',
  'parameters',
  'retrieval',
  'attributes',
] as const satisfies readonly (keyof StepContent & keyof Step)[]

function copyContent(content: StepContent, presented: Step): void {
  for (const field of contentFields) copyField(content, presented, field)
}

function copyField<Field extends keyof Step>(from: Partial<Pick<Step, Field>>, to: Step, field: Field): void {
  const value = from[field]
  if (value !== undefined) to[field] = value
}

/** The outline knows whether the error was propagated or handled, the content has the stacks. */
function presentError(error: StepError, full: StepError | undefined): StepError {
  if (full === undefined || full.message !== error.message) return error
  return { ...full, ...error, ...(full.cause !== undefined && { cause: full.cause }) }
}

function presentTool(step: ResolvedStep, presented: Step, content: StepContent | undefined): void {
  const name = content?.tool?.name ?? step.toolName ?? (step.kind === 'action' ? step.name : undefined)
  if (name === undefined) return
  const tool: StepTool = { ...content?.tool, name }
  if (step.toolCallId !== undefined) tool.callId ??= step.toolCallId
  presented.tool = tool
}

function presentStreaming(step: ResolvedStep, presented: Step, content: StepContent | undefined): void {
  const streaming: Streaming = { ...content?.streaming }
  if (step.firstTokenMs !== undefined) streaming.firstTokenMs ??= step.firstTokenMs
  if (streaming.firstTokenMs !== undefined) streaming.firstTokenMs = roundMs(streaming.firstTokenMs)
  if (step.isStreamAborted === true) streaming.isAborted = true
  if (Object.keys(streaming).length > 0) presented.streaming = streaming
}

/** Fills what the span lacks from its log records. */
function fillFromLogs(presented: Step, logs: readonly SessionLog[]): void {
  const contents = logs.flatMap((log) => (log.content === undefined ? [] : [log.content]))
  if (contents.length === 0) return
  const added = contents.flatMap((content) => content.messages ?? [])
  const messages = joinMessages(presented.messages, added)
  if (messages.length > 0) presented.messages = messages
  presented.input ??= contents.find((content) => content.input !== undefined)?.input
  presented.output ??= contents.find((content) => content.output !== undefined)?.output
  if (presented.input === undefined) delete presented.input
  if (presented.output === undefined) delete presented.output
}

/** The content of a step with the messages of its log records. */
export function contentWithLogs(
  step: ResolvedStep,
  content: StepContent | undefined,
): StepContent | undefined {
  const logs: readonly SessionLog[] = step.addedBy ?? []
  const added = logs.flatMap((log) => log.content?.messages ?? [])
  return added.length === 0
    ? content
    : { attributes: {}, ...content, messages: joinMessages(content?.messages, added) }
}

/** Its own messages; what was sent or received is taken from `added` if it has none. */
export function joinMessages(own: Message[] = [], added: Message[]): Message[] {
  return [...ownOrAdded(own, added, isSent), ...ownOrAdded(own, added, isAnswer)]
}

function isAnswer(message: Message): boolean {
  return message.isOutput === true
}

function isSent(message: Message): boolean {
  return message.isOutput !== true
}

function ownOrAdded(own: Message[], added: Message[], isMeant: (message: Message) => boolean): Message[] {
  const meant = own.filter(isMeant)
  return meant.length > 0 ? meant : added.filter(isMeant)
}

function presentLog(log: SessionLog, session: { startedAtMs: number }): LogEntry {
  const atMs = readableTime(log.atMs) || session.startedAtMs
  return {
    at: isoTime(atMs),
    offsetMs: roundMs(atMs - session.startedAtMs),
    severity: log.severity,
    name: log.name,
    body: log.content?.body ?? null,
    ...(log.content !== undefined && { attributes: log.content.attributes }),
  }
}
