import type { Message } from '../../session/message.ts'
import type { StepError, StepKind, StepTool } from '../../session/step.ts'
import type { Span } from '../../otlp/span.ts'
import type { CauseElsewhere, StepContent, StepDraft, StepOutline } from '../../session/step-draft.ts'
import { hasUsage } from '../../session/usage.ts'
import { toolDefinitionsOfSpan, toolOfSpan } from './tools-of-span.ts'
import { toFlag } from '../../json/attribute-value.ts'
import type { KindResult, SpanReading } from '../reading/dialect.ts'
import { toolAnswersIn, toolRequestsIn } from './tool-use-in-messages.ts'
import { embeddedTexts, retrievalOfSpan, withoutVectors } from './retrieval-and-embedding.ts'
import { finishReasonsOf } from '../../providers/finish-reasons.ts'
import { firstTokenMs, isStreamAborted, streamingOf } from './first-token.ts'
import { parseJson, recallingJson } from '../../json/json-text.ts'
import { kindOfStep } from './kind-of-step.ts'
import { messagesOfSpan, type MessagesOfSpan } from './messages-of-span.ts'
import { modelOfSpan, parametersOfSpan, reportedCost } from './model-call.ts'
import { agentOfSpan, guardrailOfSpan, handoffOfSpan, isHandoffTool } from './participants.ts'
import { inputOf, noteCut, outputOf } from '../reading/payload.ts'
import {
  previewJson,
  oneLine,
  previewOfArguments,
  previewOfInput,
  previewOfOutput,
  previewOfQuestion,
  previewOfUser,
  previewOfValue,
} from './preview.ts'
import { responseIdOf } from '../../providers/payload.ts'
import { EVALUATION_RESULT, scoresOfSpan } from './scores-of-span.ts'
import { sessionFactsOf } from './session-facts.ts'
import { softErrorOf } from './soft-error.ts'
import { errorOfSpan, parseRecordedError } from './step-error.ts'
import { nameOfStep } from './step-name.ts'
import { hasUsageField, usageOfSpan } from './usage-of-span.ts'

/** The step that a span describes. */
export function draftStep(reading: SpanReading): StepDraft {
  const read = reading.isOutlineOnly ? recallingJson : readAnew
  const { decided, tool } = read(() => decideKind(reading))
  const outline = beginOutline(reading, decided)
  const content: StepContent = { attributes: reading.span.attributes }
  addModel(reading, outline)
  addParticipants(reading, outline, tool)
  const conversation = read(() => messagesOfSpan(reading, decided.kind))
  addPayload(reading, outline, content, conversation)
  if (tool !== undefined) addTool(outline, content, tool)
  addToolUse(outline, content)
  addOutcome(reading, outline, content, tool)
  addStreaming(reading, outline, content)
  addPreviews(outline, content, tool)
  outline.name = nameOfStep(reading, decided.kind, outline)
  addScores(reading, outline)
  const facts = sessionFactsOf(reading, decided.kind)
  if (facts !== undefined) outline.session = facts
  const isCut = reading.isTruncated || toFlag(reading.fields.truncated) === true
  if (isCut) outline.isTruncated = true
  return reading.failures.length === 0
    ? { outline, content }
    : { outline, content, failures: reading.failures }
}

/** The content of the step that a span describes, without the rest of what `draftStep` finds out. */
export function draftContent(reading: SpanReading): StepContent {
  const { decided, tool } = decideKind(reading)
  const outline = beginOutline(reading, decided)
  const content: StepContent = { attributes: reading.span.attributes }
  addPayload(reading, outline, content, messagesOfSpan(reading, decided.kind))
  if (tool !== undefined) addTool(outline, content, tool)
  addOutcome(reading, outline, content, tool)
  addStreaming(reading, outline, content)
  return content
}

function readAnew<Result>(read: () => Result): Result {
  return read()
}

/** Decides the kind; a tool that only hands over to another agent is a handoff. */
function decideKind(reading: SpanReading): { decided: KindResult; tool: StepTool | undefined } {
  const decided = kindOfStep(reading)
  if (decided.kind !== 'action') return { decided, tool: undefined }
  const tool = toolOfSpan(reading)
  if (reading.fields.stepKind === undefined && isHandoffTool(tool.name, tool.arguments)) {
    return { decided: { ...decided, kind: 'handoff' }, tool: undefined }
  }
  return { decided, tool }
}

function beginOutline(reading: SpanReading, { kind, question }: KindResult): StepOutline {
  const { span } = reading
  const outline: StepOutline = {
    sessionId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId,
    isParentRemote: span.isParentRemote,
    startedAtMs: Number(span.startNs) / 1e6,
    endedAtMs: span.endNs === null ? null : Number(span.endNs) / 1e6,
    kind,
    name: span.name,
    dialect: labelOf(reading),
    status: 'ok',
  }
  if (span.scope.name !== '') outline.reporter = span.scope.name
  if (question !== undefined) outline.treeQuestion = question
  // Our own SDK links a session to the request it was recorded in, and the session stays a session.
  const cause = continuedCall(span) ?? (outline.dialect === 'playhead' ? undefined : causeElsewhere(span))
  if (cause !== undefined) outline.cause = cause
  return outline
}

const [SERVER, PRODUCER, CONSUMER] = [2, 4, 5]
/** One is enough to find the session. A root that handles a batch links to hundreds. */
const MAX_CAUSES = 8

/** What a root's links to other traces say. An incoming request begins a run of its own, whoever sent it. */
function causeElsewhere({ parentSpanId, kind, links, traceId }: Span): CauseElsewhere | undefined {
  if (links.length === 0 || parentSpanId !== null || kind === SERVER) return undefined
  const steps = links.filter((link) => link.traceId !== traceId).slice(0, MAX_CAUSES)
  if (steps.length === 0) return undefined
  return {
    steps: steps.map((link) => ({ traceId: link.traceId, stepId: link.spanId })),
    ...((kind === PRODUCER || kind === CONSUMER) && { isMessage: true }),
  }
}

/** Our own SDK says which call a model call outside of any session goes on from. */
function continuedCall({ attributes, traceId }: Span): CauseElsewhere | undefined {
  const named = attributes['playhead.continues']
  const [, earlier, stepId] =
    (typeof named === 'string' && /^([0-9a-f]{32})-([0-9a-f]{16})$/.exec(named)) || []
  if (earlier === undefined || stepId === undefined || earlier === traceId) return undefined
  return { steps: [{ traceId: earlier, stepId }], isContinued: true }
}

/** The name of the dialect that the span mostly follows. */
export function labelOf({ dialects, signs }: SpanReading): string {
  for (const { dialect, bit } of dialects.labelOrder) if ((signs & bit) !== 0) return dialect.name
  return 'generic'
}

function addModel(reading: SpanReading, outline: StepOutline): void {
  const { fields } = reading
  const isCall = outline.kind === 'llm' || outline.kind === 'embedding'
  const isAsked = isCall && (fields.responseId === undefined || !hasUsageField(fields))
  const response = isAsked ? outputOf(reading) : undefined
  const { model, requestedModel, provider } = modelOfSpan(reading, outline.kind, response)
  if (model !== undefined) outline.model = model
  if (requestedModel !== undefined) outline.requestedModel = requestedModel
  if (provider !== undefined) outline.provider = provider
  const { usage, isRollup, isEstimated } = usageOfSpan(reading, { kind: outline.kind, provider }, response)
  if (usage !== undefined && hasUsage(usage)) {
    outline.usage = usage
    if (isRollup) outline.isUsageRollup = true
    if (isEstimated) outline.isUsageEstimated = true
  }
  const cost = reportedCost(reading, (usage?.total ?? 0) > 0)
  if (cost !== undefined) outline.reportedCost = cost
  const responseId = fields.responseId ?? (isCall ? responseIdOf(response) : undefined)
  if (responseId !== undefined && isCall) outline.responseId = responseId
  const attempt = fields.attempt ?? (fields.resendCount === undefined ? undefined : fields.resendCount + 1)
  if (attempt !== undefined) outline.attempt = attempt
}

function addParticipants(reading: SpanReading, outline: StepOutline, tool: StepTool | undefined): void {
  const { kind } = outline
  const agent = agentOfSpan(reading, kind, outline.treeQuestion === 'agent-if-tools-below')
  if (agent !== undefined) outline.agent = agent
  if (tool !== undefined) outline.toolName = tool.name
  if (tool?.callId !== undefined) outline.toolCallId = tool.callId
  const { effect, stepSource } = reading.fields
  if (effect === 'read' || effect === 'write') outline.effect = effect
  if (stepSource === 'tape' || stepSource === 'stub' || stepSource === 'live') outline.source = stepSource
  if (kind === 'handoff') outline.handoff = handoffOfSpan(reading)
  if (kind === 'guardrail') outline.guardrail = guardrailOfSpan(reading)
}

/** Adds input and output, unless the messages already contain them. */
function addPayload(
  reading: SpanReading,
  outline: StepOutline,
  content: StepContent,
  { messages, hasInput, hasOutput }: MessagesOfSpan,
): void {
  const { kind } = outline
  if (messages !== undefined && kind !== 'action') content.messages = messages
  const isCall = kind === 'llm'
  const isEmbedding = kind === 'embedding'
  const input = isCall && hasInput ? undefined : inputOf(reading)
  const output = isCall && hasOutput ? undefined : outputOf(reading)
  const texts = isEmbedding ? embeddedTexts(reading) : undefined
  setPayload(content, 'input', texts ?? (isEmbedding ? withoutVectors(input) : input))
  setPayload(content, 'output', isEmbedding ? withoutVectors(output) : output)
  if (kind === 'retrieval') {
    const retrieval = retrievalOfSpan(reading)
    if (retrieval.query !== undefined || retrieval.documents !== undefined) content.retrieval = retrieval
  }
  addRequest(reading, kind, content)
  const reasons = finishReasonsOf(reading.fields.finishReasons, messages)
  if (reasons !== undefined) outline.finishReasons = reasons
}

/** What the model was asked with besides the messages. Outlines have none of it. */
function addRequest(reading: SpanReading, kind: StepKind, content: StepContent): void {
  const hasTools = kind === 'llm' || kind === 'agent'
  if (reading.isOutlineOnly) {
    if (hasTools) noteCut(reading, reading.fields.toolDefinitions)
    return noteCut(reading, reading.fields.invocationParameters)
  }
  if (hasTools) {
    const definitions = toolDefinitionsOfSpan(reading)
    if (definitions !== undefined) content.toolDefinitions = definitions
  }
  const parameters = parametersOfSpan(reading)
  if (parameters !== undefined) content.parameters = parameters
}

function setPayload(content: StepContent, side: 'input' | 'output', value: unknown): void {
  if (value !== undefined) content[side] = value
}

function addTool(outline: StepOutline, content: StepContent, tool: StepTool): void {
  content.tool = tool
  if (tool.arguments !== undefined) content.input = tool.arguments
  if (tool.result !== undefined) content.output = tool.result
}

/** What the conversation says about tools, so that actions that nobody recorded can be inferred without its payload. */
function addToolUse(outline: StepOutline, content: StepContent): void {
  const { messages } = content
  if (outline.kind === 'llm' && messages !== undefined) {
    const requests = toolRequestsIn(messages)
    if (requests.length > 0) outline.toolRequests = requests
    const answers = toolAnswersIn(messages)
    if (answers.length > 0) outline.toolAnswers = answers
  }
}

/** Sets the status: running, error, or soft error. */
function addOutcome(
  reading: SpanReading,
  outline: StepOutline,
  content: StepContent,
  tool: StepTool | undefined,
): void {
  if (reading.span.endNs === null) {
    outline.status = 'running'
    return
  }
  const error = errorOfSpan(reading)
  if (error !== undefined) {
    // ADK only says TOOL_ERROR; the result says more.
    const isBare = error.message === '' || error.message === error.type
    const told = isBare ? softErrorOf(parseJson(tool?.result)) : undefined
    return setError('error', { ...error, message: told?.message ?? error.message }, outline, content)
  }
  const stated = parseRecordedError(parseJson(reading.fields.softError))
  const soft = stated ?? (tool === undefined ? undefined : softErrorOf(parseJson(tool.result)))
  if (soft !== undefined) setError('soft-error', soft, outline, content)
}

/** The outline has types and messages, by which an error is recognised further up; the content also has stacks. */
function setError(
  status: 'error' | 'soft-error',
  error: StepError,
  outline: StepOutline,
  content: StepContent,
): void {
  outline.status = status
  outline.error = withoutStacks(error)
  content.error = error
}

function withoutStacks({ type, message, cause }: StepError): StepError {
  return { type, message, ...(cause !== undefined && { cause: withoutStacks(cause) }) }
}

function addScores(reading: SpanReading, outline: StepOutline): void {
  const scores = scoresOfSpan(reading)
  if (scores === undefined) return
  outline.scores = scores
  if (reading.span.name === EVALUATION_RESULT) outline.isScore = true
}

function addStreaming(reading: SpanReading, outline: StepOutline, content: StepContent): void {
  const firstToken = firstTokenMs(reading)
  if (firstToken !== undefined) outline.firstTokenMs = firstToken
  if (isStreamAborted(reading, outline)) outline.isStreamAborted = true
  if (reading.isOutlineOnly) return
  const streaming = streamingOf(reading, firstToken)
  if (streaming !== undefined) content.streaming = streaming
}

function addPreviews(outline: StepOutline, content: StepContent, tool: StepTool | undefined): void {
  const messages: Message[] = content.messages ?? []
  const input =
    tool === undefined
      ? (previewOfInput(messages) ?? previewOfQuestion(content.retrieval?.query ?? content.input))
      : previewOfArguments(tool.arguments)
  if (input !== undefined) outline.inputPreview = input
  const question = previewOfUser(messages)
  if (question !== undefined) outline.questionPreview = question
  const output =
    tool === undefined
      ? (previewOfOutput(messages) ?? previewOfValue(content.output))
      : previewOfResult(tool.result)
  if (output !== undefined) outline.outputPreview = output
}

function previewOfResult(result: unknown): string | undefined {
  if (result === undefined) return undefined
  return oneLine(typeof result === 'string' ? result : previewJson(result))
}
