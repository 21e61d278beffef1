import { stableId } from '../otlp/stable-id.ts'
import type { Message, Part } from '../session/message.ts'
import type { StepContent, StepOutline, ToolAnswer, ToolRequest } from '../session/step-draft.ts'
import { unwrapFunctionResponse } from '../providers/tool-use.ts'
import type { StepTool } from '../session/step.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { byStart, createNode, type StepNode, type StepNodes } from './step-node.ts'

/** A tool that a model asked for, and the later call that got its result. */
type Exchange = {
  caller: StepNode
  index: number
  request: ToolRequest
  answer?: { node: StepNode; value: ToolAnswer }
}

/** Clocks with milliseconds only let an action seem to start before the reply that asked for it ended. */
const CLOCK_SLACK_MS = 1
const handoffName = /^(?:handoff$|handoff_to_|transfer_to_|transfer_back_to_)/

/**
 * Completes the actions of a session with what its model calls say. A tool that was asked for and answered, but that
 * nobody recorded, becomes an inferred action between the two calls. Plain code with the tool's name is the action.
 */
export function inferActions(walk: StepNode[], nodes: StepNodes): void {
  const calls = walk.filter(({ step }) => step.toolRequests !== undefined || step.toolAnswers !== undefined)
  if (!calls.some(({ step }) => step.toolRequests !== undefined)) return
  const exchanges = findExchanges(calls.sort(byStart))
  const executions = new Executions(walk, new Set(exchanges.map(({ request }) => request.id)))
  const [answered, open] = [exchanges.filter(isAnswered), exchanges.filter((each) => !isAnswered(each))]
  const ordered = [...answered, ...open]
  // Agents that run in parallel call the same tool: what says whose it is comes before name and order.
  const sure = new Map(ordered.map((exchange) => [exchange, executions.takeSure(exchange)]))
  for (const exchange of ordered) {
    const node = sure.get(exchange) ?? executions.take(exchange)
    if (node !== undefined) completeAction(node, exchange)
    else if (isAnswered(exchange) && !handoffName.test(exchange.request.name)) {
      const inferred = inferAction(exchange)
      walk.push(inferred)
      nodes.all.push(inferred)
      nodes.isOrderSure = false
    }
  }
}

/** True for the kinds of a step that may be the execution of a tool. */
export function mayExecute({ kind }: StepOutline): boolean {
  return kind !== 'llm' && kind !== 'embedding' && kind !== 'event'
}

function isAnswered(exchange: Exchange): exchange is Required<Exchange> {
  return exchange.answer !== undefined
}

/** Pairs requests with results: by call id, otherwise by name and order. Calls are earliest first. */
function findExchanges(calls: readonly StepNode[]): Exchange[] {
  const exchanges: Exchange[] = []
  const byCallId = new Map<string, Exchange>()
  for (const node of calls) {
    const { toolAnswers = [] } = node.step
    for (const value of toolAnswers) {
      const found = value.id === undefined ? undefined : byCallId.get(value.id)
      if (found !== undefined && found.caller !== node) found.answer ??= { node, value }
    }
    const withoutId = Map.groupBy(
      toolAnswers.filter(({ id }) => id === undefined),
      ({ name }) => name,
    )
    for (const [name, values] of withoutId) pairInOrder(values, node, openFor(exchanges, node, name))
    for (const [index, request] of (node.step.toolRequests ?? []).entries()) {
      const isReportedAgain = request.id === undefined ? isDuplicate(node.step) : byCallId.has(request.id)
      if (isReportedAgain) continue
      const exchange: Exchange = { caller: node, index, request }
      exchanges.push(exchange)
      if (request.id !== undefined) byCallId.set(request.id, exchange)
    }
  }
  return exchanges
}

function isDuplicate(step: ResolvedStep): boolean {
  return step.usageScope === 'duplicate' || step.isRepeatedBelow === true
}

/** The open requests with this name, oldest first; of calls beside this one if any asked for the tool. */
function openFor(exchanges: readonly Exchange[], node: StepNode, name: string | undefined): Exchange[] {
  const named = exchanges.filter(
    ({ request, caller }) => caller !== node && (name === undefined || request.name === name),
  )
  const beside = named.filter(({ caller }) => caller.parent === node.parent)
  return (beside.length > 0 ? beside : named).filter((exchange) => !isAnswered(exchange))
}

/** A conversation repeats its earlier results, so the last ones answer what is open. */
function pairInOrder(values: readonly ToolAnswer[], node: StepNode, open: readonly Exchange[]): void {
  const latest = open.length === 0 ? [] : values.slice(-open.length)
  for (const [index, value] of latest.entries()) open[index]!.answer = { node, value }
}

/** The recorded steps that may be the execution of a tool; each is one execution only. */
class Executions {
  readonly #byCallId = new Map<string, StepNode>()
  readonly #byName = new Map<string, StepNode[]>()
  readonly #taken = new Set<StepNode>()
  readonly #requestIds: ReadonlySet<string | undefined>

  constructor(walk: readonly StepNode[], requestIds: ReadonlySet<string | undefined>) {
    this.#requestIds = requestIds
    for (const node of walk.toSorted(byStart)) {
      const { kind, toolCallId, toolName, agent, name } = node.step
      if (!mayExecute(node.step) || isPartOfAction(node)) continue
      if (toolCallId !== undefined && !this.#byCallId.has(toolCallId)) this.#byCallId.set(toolCallId, node)
      const names = [toolName ?? name, kind === 'agent' ? (agent ?? name) : name]
      for (const word of new Set(names.map(identifierOf))) {
        const list = this.#byName.get(word)
        if (list === undefined) this.#byName.set(word, [node])
        else list.push(node)
      }
    }
  }

  /** The execution with the call's id, otherwise one with the same arguments. */
  takeSure(exchange: Exchange): StepNode | undefined {
    const { id, inputPreview } = exchange.request
    const byCallId = id === undefined ? undefined : this.#byCallId.get(id)
    if (byCallId !== undefined || inputPreview === undefined) return this.#take(byCallId)
    const same = this.#candidates(exchange).filter(
      ({ step }) => step.kind === 'action' && step.inputPreview === inputPreview,
    )
    return this.#take(same.find(({ parent }) => parent === exchange.caller.parent) ?? same[0])
  }

  take(exchange: Exchange): StepNode | undefined {
    const named = this.#candidates(exchange)
    return this.#take(named.find(({ step }) => step.kind === 'action') ?? named[0])
  }

  #take(found: StepNode | undefined): StepNode | undefined {
    if (found !== undefined) this.#taken.add(found)
    return found
  }

  #candidates(exchange: Exchange): StepNode[] {
    const named = this.#byName.get(identifierOf(exchange.request.name)) ?? []
    return named.filter((node) => !this.#taken.has(node) && this.#mayBe(node, exchange))
  }

  /** True for a step after the request and before the result that has no call id of another request. */
  #mayBe({ step }: StepNode, { caller, request, answer }: Exchange): boolean {
    if (step.toolCallId !== undefined && request.id !== undefined) {
      // ADK makes up ids, others for the execution than for the messages.
      if (this.#requestIds.has(step.toolCallId) || step.inputPreview !== request.inputPreview) return false
    }
    const fromMs = step.kind === 'action' ? caller.step.startedAtMs : (caller.step.endedAtMs ?? Infinity)
    if (step.startedAtMs < fromMs - CLOCK_SLACK_MS) return false
    return answer === undefined || step.startedAtMs <= answer.node.step.startedAtMs + CLOCK_SLACK_MS
  }
}

/** Models get the names of tools as identifiers: CrewAI's "Delegate work to coworker" is `delegate_work_to_coworker`. */
function identifierOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_')
}

/** True for what another instrumentation made of the action around it. */
function isPartOfAction({ step, enclosingAction }: StepNode): boolean {
  return (
    step.kind === 'other' && step.toolName !== undefined && enclosingAction?.step.toolName === step.toolName
  )
}

/** Adds what a recorded execution lacks; its own values take precedence. */
function completeAction({ step }: StepNode, { caller, index, request, answer }: Exchange): void {
  if (step.kind === 'other') {
    step.kind = 'action'
    step.name = request.name
    step.toolName = request.name
    delete step.inputPreview
    step.requestedBy = caller.step.id
  }
  if (step.kind !== 'action') return
  if (request.id !== undefined) step.toolCallId ??= request.id
  if (step.toolCallId === undefined || (answer !== undefined && answer.value.id === undefined))
    step.requestIndex = index
  if (step.inputPreview === undefined || isBareArgument(step.inputPreview, request)) {
    if (request.inputPreview !== undefined) step.inputPreview = request.inputPreview
    step.requestedBy = caller.step.id
  }
  if (answer === undefined || step.outputPreview !== undefined || step.status !== 'ok') return
  if (answer.value.outputPreview !== undefined) step.outputPreview = answer.value.outputPreview
  step.answeredBy = answer.node.step.id
}

/** LangChain passes a single argument without its name. */
export function isBareArgument(preview: string, { inputPreview }: ToolRequest): boolean {
  const text = preview.startsWith('"') ? preview.slice(1, preview.endsWith('"') ? -1 : undefined) : preview
  return text !== '' && inputPreview?.endsWith(`=${text}`) === true
}

function inferAction({ caller, index, request, answer }: Required<Exchange>): StepNode {
  let beside = caller
  while (beside.parent?.step.kind === 'llm') beside = beside.parent
  const { sessionId, id, parentId, isParentRemote, depth, dialect, agent, isOrphan } = beside.step
  const startedAtMs = caller.step.endedAtMs ?? caller.step.startedAtMs
  const { error, outputPreview } = answer.value
  const step: ResolvedStep = {
    sessionId,
    id: stableId(`${id} ${request.id ?? `${request.name} ${index}`}`, 16),
    parentId,
    isParentRemote,
    startedAtMs,
    endedAtMs: Math.max(startedAtMs, answer.node.step.startedAtMs),
    kind: 'action',
    name: request.name,
    dialect,
    status: error === undefined ? 'ok' : 'soft-error',
    toolName: request.name,
    depth,
    isInferred: true,
    requestedBy: caller.step.id,
    answeredBy: answer.node.step.id,
    ...(request.id !== undefined && { toolCallId: request.id }),
    requestIndex: index,
    ...(request.inputPreview !== undefined && { inputPreview: request.inputPreview }),
    ...(outputPreview !== undefined && { outputPreview }),
    ...(error !== undefined && { error }),
    ...(agent !== undefined && { agent }),
    ...(isOrphan === true && { isOrphan }),
  }
  const node = createNode(step)
  node.parent = beside.parent
  return node
}

/** The content of an action, completed with the arguments and the result that its model calls contain. */
export function contentOfAction(
  step: ResolvedStep,
  contentOf: (stepId: string) => StepContent | undefined,
): StepContent | undefined {
  const own = contentOf(step.id)
  const { requestedBy, answeredBy, toolName: name } = step
  if (name === undefined || (requestedBy === undefined && answeredBy === undefined)) return own
  const given = requestedBy === undefined ? undefined : argumentsIn(contentOf(requestedBy), step)
  const result =
    answeredBy === undefined ? undefined : resultIn(contentOf(answeredBy), step, contentOf(requestedBy ?? ''))
  if (own === undefined && given === undefined && result === undefined) return undefined
  const tool: StepTool = { ...own?.tool, name }
  if (step.toolCallId !== undefined) tool.callId = step.toolCallId
  if (given !== undefined) tool.arguments = given
  if (result !== undefined && tool.result === undefined) tool.result = own?.output ?? result
  return {
    attributes: {},
    ...own,
    tool,
    ...(tool.arguments !== undefined && { input: tool.arguments }),
    ...(tool.result !== undefined && { output: tool.result }),
  }
}

function argumentsIn(content: StepContent | undefined, step: ResolvedStep): unknown {
  const calls = callsIn(content)
  const named = calls.filter((call) => call.name === step.toolName)
  return (calls[placeOf(step, calls)] ?? named[0])?.arguments
}

/** Which of the calls it is; -1 if that is not known. */
function placeOf({ toolCallId, requestIndex = -1 }: ResolvedStep, calls: readonly { id?: string }[]): number {
  const place = toolCallId === undefined ? -1 : calls.findIndex(({ id }) => id === toolCallId)
  return place === -1 ? requestIndex : place
}

function callsIn(content: StepContent | undefined): Extract<Part, { type: 'tool-call' }>[] {
  return partsOf(content?.messages, 'tool-call', true).filter(({ name }) => name !== '')
}

function resultIn(
  content: StepContent | undefined,
  step: ResolvedStep,
  reply: StepContent | undefined,
): unknown {
  const results = partsOf(content?.messages, 'tool-result', false)
  const withoutId = results.filter(
    ({ id, name }) =>
      (id === undefined || step.toolCallId === undefined) && (name === undefined || name === step.toolName),
  )
  const found =
    (step.toolCallId === undefined ? undefined : results.findLast(({ id }) => id === step.toolCallId)) ??
    withoutId.at(-placesFromEnd(step, callsIn(reply)))
  return unwrapFunctionResponse(found?.result)
}

/** Results without ids are in the order of the calls, and the last ones answer the last reply. */
function placesFromEnd(step: ResolvedStep, calls: readonly { id?: string; name: string }[]): number {
  const place = placeOf(step, calls)
  if (place === -1) return 1
  return Math.max(1, calls.slice(place).filter(({ name }) => name === step.toolName).length)
}

function partsOf<Type extends Part['type']>(
  messages: readonly Message[] = [],
  type: Type,
  isOutput: boolean,
): Extract<Part, { type: Type }>[] {
  return messages
    .filter((message) => (message.isOutput === true) === isOutput)
    .flatMap(({ parts }) => parts)
    .filter((part): part is Extract<Part, { type: Type }> => part.type === type)
}
