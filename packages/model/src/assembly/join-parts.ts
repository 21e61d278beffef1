import type { StepContent } from '../session/step-draft.ts'
import { emptyAttributes } from '../otlp/span.ts'
import type { Message, Part } from '../session/message.ts'
import { joinReports } from './join-reports.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { joinMessages } from './present-step.ts'
import type { StepNode, StepNodes } from './step-node.ts'

/**
 * Joins spans that tell of a part of a model call to the step of that call: the answer of a stream, which some senders
 * log beside the call, the model's requests for tools, and reports without content. What is joined is no step of its own.
 */
export function joinParts(nodes: StepNodes): StepNodes {
  const joined = new Set<StepNode>()
  joinAnswers(nodes, joined)
  joinToolRequests(nodes, joined)
  const reports = joinReports(nodes)
  for (const node of reports.keys()) joined.add(node)
  findContentAround(nodes)
  if (joined.size === 0) return nodes
  const all = nodes.all.filter((node) => !joined.has(node))
  const byId = new Map(all.map((node) => [node.step.id, node]))
  // Log records may name the report that was joined.
  for (const [{ step }, full] of reports) byId.set(step.id, full)
  return { all, byId, isOrderSure: nodes.isOrderSure }
}

/** The content of a step with that of the spans that were joined to it. */
export function contentWithParts(
  step: ResolvedStep,
  contents: ReadonlyMap<string, StepContent>,
): StepContent | undefined {
  const own = withMessagesAround(step, contents)
  if (step.parts === undefined || own === undefined) return own
  return step.parts.reduce((content, id) => {
    const part = contents.get(id)
    if (part === undefined) return content
    return part.tool === undefined ? withAnswer(content, part) : withToolRequest(content, part)
  }, own)
}

/** Some senders (Mastra) put the messages of a call on a step of its own around it. */
function findContentAround({ all, byId }: StepNodes): void {
  const calls = all.filter(({ step }) => step.kind === 'llm')
  const around = calls.filter(({ step }) => step.treeQuestion === 'llm-unless-model-below')
  if (around.length === 0) return
  const below = Map.groupBy(calls, ({ step }) => step.parentId)
  for (const { step } of around) {
    const [inside, ...others] = below.get(step.id) ?? []
    if (inside === undefined || others.length > 0 || byId.get(inside.step.id) !== inside) continue
    const call = inside.step
    if (call.inputPreview !== undefined || call.reporter !== step.reporter) continue
    if (step.inputPreview === undefined || call.treeQuestion !== undefined) continue
    call.inputPreview = step.inputPreview
    if (step.outputPreview !== undefined) call.outputPreview ??= step.outputPreview
    if (step.toolRequests !== undefined) call.toolRequests ??= step.toolRequests
    call.contentFrom = step.id
  }
}

function withMessagesAround(
  { id, contentFrom }: ResolvedStep,
  contents: ReadonlyMap<string, StepContent>,
): StepContent | undefined {
  const own = contents.get(id)
  const around = contentFrom === undefined ? undefined : contents.get(contentFrom)
  if (own === undefined || around?.messages === undefined) return own
  return { ...own, messages: joinMessages(own.messages, around.messages) }
}

/** A log of an answer has no duration. It follows its call, under the same parent and from the same sender. */
function joinAnswers({ all }: StepNodes, joined: Set<StepNode>): void {
  if (!all.some(isLoggedAnswer)) return
  const unanswered = new Map<string, StepNode[]>()
  for (const node of all) {
    const { step } = node
    const key = `${step.parentId}\n${step.reporter}`
    const calls = unanswered.get(key) ?? []
    if (isUnanswered(step)) unanswered.set(key, [...calls, node])
    if (!isLoggedAnswer(node)) continue
    const call =
      calls.find((other) => isSameModel(other.step, step) && other.step.inputPreview === step.inputPreview) ??
      calls.find((other) => isSameModel(other.step, step))
    if (call === undefined) continue
    unanswered.set(
      key,
      calls.filter((other) => other !== call),
    )
    takeAnswer(call.step, step)
    joined.add(node)
  }
}

function isLoggedAnswer({ step }: StepNode): boolean {
  if (step.kind !== 'llm' || step.endedAtMs !== step.startedAtMs) return false
  return step.usage !== undefined || step.outputPreview !== undefined
}

function isUnanswered(step: ResolvedStep): boolean {
  if (step.kind !== 'llm' || step.status !== 'ok' || step.endedAtMs === step.startedAtMs) return false
  return step.usage === undefined && step.outputPreview === undefined
}

function isSameModel(left: ResolvedStep, right: ResolvedStep): boolean {
  return (left.requestedModel ?? left.model) === (right.requestedModel ?? right.model)
}

const answerFields = [
  'usage',
  'reportedCost',
  'cost',
  'costSource',
  'responseId',
  'finishReasons',
  'outputPreview',
  'firstTokenMs',
  'toolRequests',
] as const satisfies readonly (keyof ResolvedStep)[]

function takeAnswer(call: ResolvedStep, answer: ResolvedStep): void {
  const target = call as Record<(typeof answerFields)[number], unknown>
  if (answer.cost !== undefined && call.costSource === 'no-price') delete call.costSource
  for (const field of answerFields) if (answer[field] !== undefined) target[field] ??= answer[field]
  if (answer.model !== undefined && answer.model !== answer.requestedModel) call.model = answer.model
  call.endedAtMs = answer.endedAtMs
  addPart(call, answer)
}

/** A request has arguments and no result, and is below the call that made it. A tool that ran has a result. */
function joinToolRequests({ all, byId }: StepNodes, joined: Set<StepNode>): void {
  const requests = all.filter(({ step }) => {
    if (step.kind !== 'action' || step.status !== 'ok' || step.parentId === null) return false
    if (step.inputPreview === undefined || step.outputPreview !== undefined) return false
    return byId.get(step.parentId)?.step.kind === 'llm'
  })
  if (requests.length === 0) return
  const parents = new Set(all.map(({ step }) => step.parentId))
  for (const node of requests) {
    if (parents.has(node.step.id)) continue
    takeRequest(byId.get(node.step.parentId!)!.step, node.step)
    joined.add(node)
  }
}

function takeRequest(
  call: ResolvedStep,
  { id, toolName, toolCallId, inputPreview, name }: ResolvedStep,
): void {
  const known = call.toolRequests ?? []
  const isKnown = known.some((request) =>
    toolCallId === undefined ? request.name === (toolName ?? name) : request.id === toolCallId,
  )
  const request = {
    ...(toolCallId !== undefined && { id: toolCallId }),
    name: toolName ?? name,
    ...(inputPreview !== undefined && { inputPreview }),
  }
  if (!isKnown) call.toolRequests = [...known, request]
  call.parts = [...(call.parts ?? []), id]
}

function addPart(step: ResolvedStep, part: ResolvedStep): void {
  step.parts = [...(step.parts ?? []), part.id]
}

function withAnswer(content: StepContent, answer: StepContent): StepContent {
  const messages = joinMessages(content.messages, answer.messages ?? [])
  return {
    ...answer,
    ...content,
    ...(messages.length > 0 && { messages }),
    attributes: Object.assign(emptyAttributes(), answer.attributes, content.attributes),
  }
}

/** Adds a tool call to the answer, unless the answer has it. */
function withToolRequest(content: StepContent, { tool }: StepContent): StepContent {
  const messages = content.messages ?? []
  const isKnown = (part: Part) =>
    part.type === 'tool-call' &&
    (tool?.callId === undefined || part.id === undefined ? part.name === tool?.name : part.id === tool.callId)
  const isInAnswer = messages.some((message) => message.isOutput === true && message.parts.some(isKnown))
  if (tool === undefined || isInAnswer) return content
  const request: Part = {
    type: 'tool-call',
    ...(tool.callId !== undefined && { id: tool.callId }),
    name: tool.name,
    arguments: tool.arguments,
  }
  const last = messages.findLast((message) => message.isOutput === true)
  if (last === undefined) {
    const answer: Message = { role: 'assistant', parts: [request], isOutput: true }
    return { ...content, messages: [...messages, answer] }
  }
  const extended = { ...last, parts: [...last.parts, request] }
  return { ...content, messages: messages.map((message) => (message === last ? extended : message)) }
}
