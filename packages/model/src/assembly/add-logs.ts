import type { LogOutline } from '../session/log-draft.ts'
import { hasFailed } from '../session/failure.ts'
import { joinLogs, type LogWithAddition } from './join-logs.ts'
import { priceStep, type Pricer } from '../prices/price.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { readableTime } from '../session/session-time.ts'
import type { SessionFacts } from '../session/step-draft.ts'
import type { StepError } from '../session/step.ts'
import type { StepNode, StepNodes } from './step-node.ts'

/**
 * Adds the contents of log records to their steps. Spans take precedence over records, and records are applied by
 * timestamp, so that the order of arrival never matters.
 */
export function addLogs(
  walk: readonly StepNode[],
  nodes: StepNodes,
  options: { logs: readonly LogOutline[]; pricer?: Pricer | undefined },
): void {
  const adding = options.logs.filter((log): log is LogWithAddition => log.adds !== undefined)
  if (adding.length === 0 || walk.length === 0) return
  adding.sort(oldestFirst)
  const targets = joinLogs(adding, walk, nodes)
  const additions = new Map<StepNode, LogWithAddition[]>()
  for (const log of adding) {
    const target = targets.get(log)
    if (target === undefined) addToRoot(log.adds.session, walk)
    else if (additions.has(target)) additions.get(target)!.push(log)
    else additions.set(target, [log])
  }
  for (const [{ step }, logs] of additions) {
    step.addedBy = logs
    addToStep(step, logs, options.pricer)
  }
}

/** Oldest first. The order of records with equal times does not depend on their arrival. */
export function oldestFirst(left: LogOutline, right: LogOutline): number {
  return (
    readableTime(left.atMs) - readableTime(right.atMs) ||
    (left.adds?.sequence ?? 0) - (right.adds?.sequence ?? 0) ||
    compareText(left.name, right.name) ||
    compareText(JSON.stringify(left), JSON.stringify(right))
  )
}

function compareText(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function addToRoot(facts: SessionFacts | undefined, walk: readonly StepNode[]): void {
  if (facts === undefined) return
  const root = walk.find((node) => node.parent === null && node.step.isOrphan !== true) ?? walk[0]!
  root.step.session = withFacts(root.step.session, facts)
}

function addToStep(step: ResolvedStep, logs: readonly LogWithAddition[], pricer: Pricer | undefined): void {
  const hasOwnInput = step.inputPreview !== undefined
  addToolUse(step, logs)
  for (const { adds } of logs) {
    // Shows the last of several inputs, which is the current question, and the first of several replies.
    if (adds.inputPreview !== undefined && !hasOwnInput) step.inputPreview = adds.inputPreview
    if (adds.outputPreview !== undefined) step.outputPreview ??= adds.outputPreview
    if (adds.model !== undefined) step.model ??= adds.model
    if (adds.usage !== undefined) step.usage = { ...adds.usage, ...step.usage }
    if (adds.reportedCost !== undefined) step.reportedCost ??= adds.reportedCost
    if (adds.error !== undefined) addError(step, adds.error)
    if (adds.session !== undefined) step.session = withFacts(step.session, adds.session)
  }
  if (pricer !== undefined) priceStep(step, pricer)
  else if (step.reportedCost !== undefined && step.reportedCost > 0) {
    step.cost = step.reportedCost
    step.costSource = 'reported'
  }
}

function addToolUse(step: ResolvedStep, logs: readonly LogWithAddition[]): void {
  const requests = logs.flatMap(({ adds }) => adds.toolRequests ?? [])
  if (requests.length > 0) step.toolRequests ??= requests
  const answers = logs.flatMap(({ adds }) => adds.toolAnswers ?? [])
  if (answers.length > 0) step.toolAnswers ??= answers
}

/** Marks the step as failed, unless it has a reply: then only an attempt failed. */
function addError(step: ResolvedStep, error: StepError): void {
  if (hasFailed(step)) {
    if (step.error === undefined || step.error.message === '') step.error = error
    return
  }
  if (step.error !== undefined) return
  const hasSucceeded =
    (step.kind === 'llm' || step.kind === 'embedding') &&
    (step.outputPreview !== undefined || step.finishReasons !== undefined || step.usage?.output !== undefined)
  step.error = hasSucceeded ? { ...error, isHandled: true } : error
  if (!hasSucceeded) step.status = 'error'
}

function withFacts(own: SessionFacts | undefined, added: SessionFacts): SessionFacts {
  return own === undefined ? added : { ...added, ...own }
}
