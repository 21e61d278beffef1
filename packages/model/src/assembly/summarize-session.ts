import { isCallHere } from './count-usage.ts'
import { lacksDetails } from './attribute-errors.ts'
import type { EndState } from '../session/end-state.ts'
import { hasFailed, ownsError } from '../session/failure.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { nameSession } from './name-session.ts'
import { UNKNOWN_MODEL, type SessionSummary } from '../session/session.ts'
import { roundDollars } from '../prices/price.ts'
import { isoTime, roundMs } from '../session/session-time.ts'
import { endStateAt, reportedEndState, deriveEndState, topSteps } from './derive-end-state.ts'
import { countingScores, type Score } from '../session/score.ts'
import type { SessionFacts } from '../session/step-draft.ts'
import { isOutputUnknown } from '../session/calls-without-usage.ts'
import { addUsage, hasUsage, isOutputMissing, type Usage } from '../session/usage.ts'

/** Tags that people added to a session (true) or removed from it (false), after it was recorded. */
export type TagEdits = ReadonlyMap<string, boolean>

export type SummaryContext = {
  nowMs: number
  lastHeardAtMs: number
  tagEdits?: TagEdits | undefined
  /** All scores of the session, newest first. */
  scores?: readonly Score[] | undefined
}

/** Summarizes a session from its steps. */
export function summarizeSession(steps: readonly ResolvedStep[], context: SummaryContext): SessionSummary {
  const top = topSteps(steps)
  const facts = mergeFacts(top, steps)
  const endState = endStateAt(deriveEndState(steps), context)
  const times = timesOf(steps, context.lastHeardAtMs)
  const isRunning = endState === 'running'
  const reason = endStateReason(endState, top, steps)
  const inputPreview = inputPreviewOf(top, steps)
  const scores = countingScores(context.scores ?? [])
  return {
    id: steps[0]?.sessionId ?? '',
    name: nameSession(facts, { top, steps, inputPreview }),
    ...(inputPreview !== undefined && { inputPreview }),
    endState,
    ...(reason !== undefined && { endStateReason: reason }),
    startedAt: isoTime(times.startedAtMs),
    endedAt: isRunning ? null : isoTime(times.endedAtMs),
    durationMs: isRunning ? null : roundMs(times.endedAtMs - times.startedAtMs),
    tags: editTags(facts.tags ?? [], context.tagEdits ?? new Map()),
    ...sumUsage(steps),
    ...countSteps(steps),
    ...(facts.userId !== undefined && { userId: facts.userId }),
    ...(facts.threadId !== undefined && { threadId: facts.threadId }),
    ...(facts.environment !== undefined && { environment: facts.environment }),
    ...(facts.version !== undefined && { version: facts.version }),
    ...(facts.test !== undefined && { test: facts.test }),
    ...(facts.vcs !== undefined && { vcs: facts.vcs }),
    ...(facts.metadata !== undefined && { metadata: facts.metadata }),
    ...facts.rerun,
    ...(scores.length > 0 && { scores }),
    demo: facts.demo ?? false,
  }
}

/** The model that responded, otherwise the requested one. */
function modelOf(step: ResolvedStep): string | undefined {
  return step.model ?? step.requestedModel
}

function isModelCall({ kind }: ResolvedStep): boolean {
  return kind === 'llm' || kind === 'embedding'
}

/** Steps at the top take precedence; tags are collected from all steps. */
function mergeFacts(top: readonly ResolvedStep[], steps: readonly ResolvedStep[]): SessionFacts {
  const merged: SessionFacts = {}
  const tags = new Set<string>()
  const add = (facts: SessionFacts) => {
    const [target, given] = [merged as Record<string, unknown>, facts as Record<string, unknown>]
    for (const name in given) target[name] ??= given[name]
    if (facts.tags !== undefined) for (const tag of facts.tags) tags.add(tag)
  }
  for (const { session } of top) if (session !== undefined) add(session)
  for (const { session, depth } of steps) if (session !== undefined && depth > 0) add(session)
  if (tags.size > 0) merged.tags = [...tags]
  return merged
}

function editTags(recorded: readonly string[], edits: TagEdits): string[] {
  const added = [...edits].flatMap(([tag, isAdded]) => (isAdded ? [tag] : []))
  return [...new Set([...recorded.filter((tag) => edits.get(tag) !== false), ...added])]
}

function endStateReason(
  endState: EndState,
  top: readonly ResolvedStep[],
  steps: readonly ResolvedStep[],
): string | undefined {
  const given = reportedEndState(steps)
  if (given?.endStateReason) return given.endStateReason
  if (endState !== 'fail') return undefined
  const failed = steps.filter(ownsError)
  const telling =
    top.find((step) => hasFailed(step) && step.error !== undefined && !lacksDetails(step.error)) ??
    failed.findLast((step) => step.error?.isHandled !== true) ??
    failed.at(-1)
  return telling?.error?.message || telling?.error?.type
}

function timesOf(
  steps: readonly ResolvedStep[],
  otherwiseMs: number,
): { startedAtMs: number; endedAtMs: number } {
  const startedAtMs = steps[0]?.startedAtMs ?? otherwiseMs
  let endedAtMs = startedAtMs
  for (const step of steps) endedAtMs = Math.max(endedAtMs, step.endedAtMs ?? step.startedAtMs)
  return { startedAtMs, endedAtMs }
}

/** What the user said: the input of the root, otherwise of the first step of a run. JSON says less than either. */
function inputPreviewOf(top: readonly ResolvedStep[], steps: readonly ResolvedStep[]): string | undefined {
  const isRun = steps.some(({ kind }) => kind === 'llm' || kind === 'agent')
  const texts: string[] = []
  for (const step of top) {
    // A tool on its own got its input from a model.
    const isTool =
      step.isInferred === true || (step.kind === 'action' && step.dialect !== 'playhead' && !isRun)
    const text = isTool ? undefined : (step.questionPreview ?? step.inputPreview)
    if (text !== undefined) texts.push(text)
  }
  for (const step of steps) {
    const isPart = step.kind === 'llm' || step.kind === 'agent' || step.kind === 'workflow'
    const said = isPart ? (step.questionPreview ?? step.inputPreview) : undefined
    if (said !== undefined) texts.push(said)
    if (said !== undefined && !isData(said)) break
  }
  return texts.find((text) => !isData(text)) ?? texts[0]
}

/** JSON, or an object as Python prints it. */
function isData(preview: string): boolean {
  return /^(?:[{[]|[A-Z]\w*\(\w+=|<[\w.]+ object at 0x)/.test(preview)
}

function sumUsage(
  steps: readonly ResolvedStep[],
): Pick<SessionSummary, 'usage' | 'cost' | 'unpricedModels' | 'modelsWithoutUsage' | 'modelsWithoutOutput'> {
  const usage: Usage = {}
  let cost: number | null = null
  const unpriced = new Set<string>()
  const withoutUsage = new Set<string>()
  const withoutOutput = new Set<string>()
  for (const step of steps) {
    if (step.usageScope === 'call') {
      if (step.usage !== undefined) addWithTotal(usage, step.usage)
      if (step.cost !== undefined) cost = (cost ?? 0) + step.cost
    }
    const model = modelOf(step) ?? UNKNOWN_MODEL
    if (lacksPrice(step)) unpriced.add(model)
    if (lacksOutput(step)) withoutOutput.add(model)
    if (lacksUsage(step)) withoutUsage.add(model)
  }
  return {
    usage,
    cost: cost === null ? null : roundDollars(cost),
    unpricedModels: [...unpriced],
    ...(withoutUsage.size > 0 && { modelsWithoutUsage: [...withoutUsage] }),
    ...(withoutOutput.size > 0 && { modelsWithoutOutput: [...withoutOutput] }),
  }
}

/** Computes a missing total from input and output. */
function addWithTotal(sum: Usage, usage: Usage): void {
  addUsage(sum, usage)
  const { input, output, total } = usage
  if (total === undefined && input !== undefined && output !== undefined)
    sum.total = (sum.total ?? 0) + input + output
}

/** True for a call whose price is unknown. Steps stored by older versions do not say `no-price`. */
function lacksPrice(step: ResolvedStep): boolean {
  if (step.cost !== undefined) return false
  if (lacksUsage(step)) return step.costSource === 'no-price'
  if (step.usageScope !== 'call' || !hasUsage(step.usage)) return false
  const isWhole = step.kind === 'embedding' || step.status === 'error' || !isOutputMissing(step.usage)
  return isWhole || step.costSource === 'no-price'
}

/** True for a call that reported tokens, but not those of its output. */
function lacksOutput(step: ResolvedStep): boolean {
  return step.usageScope === 'call' && isOutputUnknown(step)
}

/** True for a call that reported no tokens, so that nobody knows what it cost: a stream without its last chunk. */
function lacksUsage(step: ResolvedStep): boolean {
  if (step.cost !== undefined || step.usageScope !== undefined) return false
  if (!isModelCall(step) || step.isRepeatedBelow === true || step.isCountedAbove === true) return false
  return step.status === 'ok' || step.status === 'soft-error'
}

type Counts = Pick<
  SessionSummary,
  'stepCount' | 'llmCallCount' | 'actionCount' | 'errorCount' | 'models' | 'agents' | 'tools'
>

function countSteps(steps: readonly ResolvedStep[]): Counts {
  let llmCallCount = 0
  let actionCount = 0
  let errorCount = 0
  const models = new Set<string>()
  const agents = new Set<string>()
  const tools = new Set<string>()
  for (const step of steps) {
    if (ownsError(step)) errorCount += 1
    if (step.kind === 'llm' && step.isRepeatedBelow !== true && isCallHere(step)) llmCallCount += 1
    const model = isModelCall(step) || step.usageScope === 'call' ? modelOf(step) : undefined
    if (model !== undefined) models.add(model)
    const agent = step.agent ?? (step.kind === 'agent' ? step.name : undefined)
    if (agent !== undefined) agents.add(agent)
    if (step.kind === 'action') {
      actionCount += 1
      tools.add(step.toolName ?? step.name)
    }
  }
  return {
    stepCount: steps.length,
    llmCallCount,
    actionCount,
    errorCount,
    models: [...models],
    agents: [...agents],
    tools: [...tools],
  }
}
