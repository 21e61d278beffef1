import type { LogDraft } from '../../session/log-draft.ts'
import type { StepError, StepKind } from '../../session/step.ts'
import type { StepDraft, StepOutline } from '../../session/step-draft.ts'
import { toCount, toNumber, toText } from '../../json/attribute-value.ts'
import { apiError, toolError, toolInput, usageOfClaudeCode } from './claude-code-logs.ts'
import { providerOfModel } from '../drafts/model-call.ts'
import { previewOfArguments } from '../drafts/preview.ts'
import { stableId } from '../../otlp/stable-id.ts'

const STEP_DIGITS = 16
const AGENT = 'claude-code'

/**
 * Builds the steps of a session from logs alone: the prompt is the agent, and below it are model requests, tools and
 * other events.
 */
export function logsToSteps(logs: LogDraft[]): StepDraft[] {
  const steps: StepDraft[] = []
  let agent: StepDraft | undefined
  let lastCall: StepDraft | undefined
  for (const log of logs.toSorted(oldestFirst)) {
    if (log.outline.name === 'assistant_response' && lastCall !== undefined) {
      addAnswer(lastCall, log)
      if (agent !== undefined) setReply(agent, lastCall)
      continue
    }
    const step = draftOf(log)
    if (log.outline.name === 'user_prompt') agent = step
    else if (agent !== undefined) attachTo(agent, step)
    if (step.outline.kind === 'llm') lastCall = step
    steps.push(step)
  }
  // Records about the program itself (settings read, plugins loaded) do not make a session.
  return steps.some(({ outline }) => outline.kind !== 'event') ? steps : []
}

function oldestFirst(left: LogDraft, right: LogDraft): number {
  return (
    left.outline.atMs - right.outline.atMs ||
    (left.outline.adds?.sequence ?? sequenceOf(left)) - (right.outline.adds?.sequence ?? sequenceOf(right))
  )
}

function sequenceOf(log: LogDraft): number {
  return toNumber(log.content.attributes['event.sequence']) ?? 0
}

function draftOf(log: LogDraft): StepDraft {
  const { attributes } = log.content
  switch (log.outline.name) {
    case 'user_prompt':
      return promptStep(log)
    case 'api_request':
      return callStep(log, undefined)
    case 'api_error':
      return callStep(log, apiError(attributes))
    case 'tool_result':
      return toolStep(log)
    default:
      return beginStep(log, 'event', log.outline.name === '' ? 'log' : log.outline.name)
  }
}

/** Records are written at the end of a step, so it started its duration earlier. */
function beginStep(log: LogDraft, kind: StepKind, name: string): StepDraft {
  const { attributes } = log.content
  const durationMs = kind === 'event' ? 0 : (toCount(attributes.duration_ms) ?? 0)
  const { sessionId, atMs } = log.outline
  const outline: StepOutline = {
    sessionId,
    id: stableId(idText(log), STEP_DIGITS),
    parentId: null,
    isParentRemote: false,
    startedAtMs: atMs - durationMs,
    endedAtMs: atMs,
    kind,
    name,
    dialect: AGENT,
    status: 'ok',
  }
  const { adds } = log.outline
  if (adds?.session !== undefined) outline.session = adds.session
  if (adds?.inputPreview !== undefined) outline.inputPreview = adds.inputPreview
  const content: StepDraft['content'] = { attributes }
  if (log.content.input !== undefined) content.input = log.content.input
  if (log.content.messages !== undefined) content.messages = log.content.messages
  return { outline, content }
}

function idText({ outline, content }: LogDraft): string {
  return [
    outline.sessionId,
    outline.name,
    outline.atMs,
    toText(content.attributes['event.sequence']) ?? '',
  ].join('/')
}

function promptStep(log: LogDraft): StepDraft {
  const step = beginStep(log, 'agent', AGENT)
  step.outline.agent = AGENT
  return step
}

function callStep(log: LogDraft, error: StepError | undefined): StepDraft {
  const { attributes } = log.content
  const model = toText(attributes.model)
  const step = beginStep(log, 'llm', model ?? 'llm')
  const { outline } = step
  if (model !== undefined) outline.model = model
  outline.provider = providerOfModel(model) ?? 'anthropic'
  const usage = usageOfClaudeCode(attributes)
  if (usage !== undefined) outline.usage = usage
  const cost = toCount(attributes.cost_usd)
  if (cost !== undefined) outline.reportedCost = cost
  const firstToken = toCount(attributes.ttft_ms)
  if (firstToken !== undefined) outline.firstTokenMs = firstToken
  const attempt = toCount(attributes.attempt)
  if (attempt !== undefined) outline.attempt = attempt
  if (error !== undefined) fail(step, error)
  return step
}

function toolStep(log: LogDraft): StepDraft {
  const { attributes } = log.content
  const name = toText(attributes.tool_name) ?? 'tool'
  const step = beginStep(log, 'action', name)
  const given = toolInput(attributes)
  step.outline.toolName = name
  step.content.tool = given === undefined ? { name } : { name, arguments: given }
  const callId = toText(attributes.tool_use_id)
  if (callId !== undefined) {
    step.outline.toolCallId = callId
    step.content.tool.callId = callId
  }
  const preview = previewOfArguments(given)
  if (preview !== undefined) step.outline.inputPreview = preview
  const error = toolError(attributes)
  if (error !== undefined) fail(step, error)
  return step
}

function fail({ outline, content }: StepDraft, error: StepError): void {
  outline.status = 'error'
  outline.error = { type: error.type, message: error.message }
  content.error = error
}

function addAnswer(call: StepDraft, log: LogDraft): void {
  call.content.messages = [...(call.content.messages ?? []), ...(log.content.messages ?? [])]
  const preview = log.outline.adds?.outputPreview
  if (preview !== undefined) call.outline.outputPreview = preview
}

/** Extends the agent's step over the steps below it. */
function attachTo(agent: StepDraft, { outline }: StepDraft): void {
  outline.parentId = agent.outline.id
  agent.outline.endedAtMs = Math.max(agent.outline.endedAtMs ?? 0, outline.endedAtMs ?? 0)
}

/** The model's last reply is the agent's output. */
function setReply(agent: StepDraft, { outline }: StepDraft): void {
  if (outline.outputPreview !== undefined) agent.outline.outputPreview = outline.outputPreview
}
