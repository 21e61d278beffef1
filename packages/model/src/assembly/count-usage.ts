import type { ResolvedStep } from './resolved-step.ts'
import {
  byStart,
  COST_BELOW,
  COUNTED_ABOVE,
  EMBEDDING_CALL_BELOW,
  LLM_CALL_BELOW,
  USAGE_BELOW,
  type StepNode,
} from './step-node.ts'
import { hasUsage, usageFields } from '../session/usage.ts'
import { costRelevance, isSameModel, isSameReporter, OVERLAP_SLACK_MS } from './same-call.ts'

/**
 * Decides for every step with tokens or a cost whether it counts, so that each call counts once. A step does not
 * count if a step below it does, if its dialect marks it as a sum, or if it is another instrumentation's report of a
 * call that already counts.
 */
export function countUsage(walk: readonly StepNode[], duplicateSteps?: ReadonlySet<string>): void {
  const withResponse: StepNode[] = []
  const calls: StepNode[] = []
  let countsForOthers = false
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    const { step } = node
    scopeInTree(node)
    if (step.usageScope === 'call' && node.firstChild !== null) countsForOthers = true
    if (step.responseId !== undefined && mayBeCall(node)) withResponse.push(node)
    if (step.usageScope === 'call' && step.kind === 'llm' && node.parent !== null) calls.push(node)
  }
  if (withResponse.length > 1) markDuplicates(withResponse)
  for (const group of groupByTokens(calls)) if (isReportedTwice(group)) markDuplicatesOfOneResponse(group)
  if (duplicateSteps !== undefined) for (const { step } of walk) leaveToOther(step, duplicateSteps)
  markRepeatedBelow(walk)
  if (countsForOthers) markCountedAbove(walk)
}

function scopeInTree(node: StepNode): void {
  const { step, parent } = node
  const ownsUsage = hasUsage(step.usage)
  const ownsCost = step.cost !== undefined
  if (ownsUsage) step.usageScope = step.isUsageRollup || node.bits & USAGE_BELOW ? 'rollup' : 'call'
  else if (ownsCost) step.usageScope = node.bits & (USAGE_BELOW | COST_BELOW) ? 'rollup' : 'call'
  if (parent === null) return
  // A child that reports only zeros does not replace the step above it.
  const counts = ownsUsage && step.usageScope === 'call' && hasTokens(step)
  parent.bits |= node.bits & (USAGE_BELOW | COST_BELOW)
  if (counts) parent.bits |= USAGE_BELOW
  if (ownsCost) parent.bits |= COST_BELOW
}

function hasTokens({ usage }: ResolvedStep): boolean {
  return usage !== undefined && usageFields.some((field) => (usage[field] ?? 0) > 0)
}

function mayBeCall({ step }: StepNode): boolean {
  if (step.usageScope !== undefined) return step.usageScope === 'call'
  return step.kind === 'llm' || step.kind === 'embedding'
}

function markDuplicates(nodes: readonly StepNode[]): void {
  const first = new Map<string, StepNode>()
  const groups = new Map<string, StepNode[]>()
  for (const node of nodes) {
    const responseId = node.step.responseId!
    const other = first.get(responseId)
    if (other === undefined) first.set(responseId, node)
    else if (groups.has(responseId)) groups.get(responseId)!.push(node)
    else groups.set(responseId, [other, node])
  }
  for (const group of groups.values()) markDuplicatesOfOneResponse(group)
}

/** Without a response id, the same tokens below the same step tell that two reports are of one call. */
function groupByTokens(calls: readonly StepNode[]): Iterable<StepNode[]> {
  const reports = new Map<string, StepNode[]>()
  if (calls.every(({ step }) => step.responseId !== undefined)) return []
  for (const node of calls) {
    const { input = 0, output = 0 } = node.step.usage ?? {}
    if (input === 0 || output === 0) continue
    const key = `${node.step.parentId} ${input} ${output}`
    const group = reports.get(key)
    if (group === undefined) reports.set(key, [node])
    else group.push(node)
  }
  return reports.values()
}

function isReportedTwice(group: readonly StepNode[]): boolean {
  if (group.length === 1) return false
  const reporters = new Set(group.map(({ step }) => step.reporter))
  const names = new Set(group.map(({ step }) => `${step.reporter} ${step.name}`))
  const lacksId = group.some(({ step }) => step.responseId === undefined)
  return lacksId && reporters.size > 1 && names.size === reporters.size
}

/** Compares only steps that overlap in time: sequential calls with one response id are separate calls. */
function markDuplicatesOfOneResponse(group: StepNode[]): void {
  group.sort(byStart)
  let overlapping: StepNode[] = []
  let endMs = -Infinity
  for (const node of group) {
    if (node.step.startedAtMs > endMs + OVERLAP_SLACK_MS) {
      keepBest(overlapping)
      overlapping = []
    }
    overlapping.push(node)
    endMs = Math.max(endMs, node.step.endedAtMs ?? Infinity)
  }
  keepBest(overlapping)
}

function keepBest(nodes: readonly StepNode[]): void {
  if (nodes.length < 2) return
  let best = nodes[0]!
  let bestRelevance = costRelevance(best.step)
  for (const node of nodes) {
    const relevance = costRelevance(node.step)
    if (relevance > bestRelevance) [best, bestRelevance] = [node, relevance]
  }
  for (const { step } of nodes)
    if (!isSameReporter(step, best.step) && isSameModel(step, best.step)) step.usageScope = 'duplicate'
}

/** A call of a run that another session counts is still a call of that run. One that stands alone is only a second report. */
function leaveToOther(step: ResolvedStep, duplicateSteps: ReadonlySet<string>): void {
  if (!duplicateSteps.has(step.id) || step.usageScope === 'rollup' || step.usageScope === 'duplicate') return
  step.usageScope = 'duplicate'
  if (step.parentId !== null) step.isCountedElsewhere = true
}

/** Marks model calls that a step below reports again. */
function markRepeatedBelow(walk: readonly StepNode[]): void {
  for (let index = walk.length - 1; index >= 0; index -= 1) {
    const node = walk[index]!
    const { step, parent } = node
    const callBit = callBitOf(step)
    if (node.bits & callBit) step.isRepeatedBelow = true
    if (parent === null) continue
    parent.bits |= node.bits & (LLM_CALL_BELOW | EMBEDDING_CALL_BELOW)
    if (isCallHere(step)) parent.bits |= callBit
  }
}

/** False for a second report of a call that another step of the session stands for. */
export function isCallHere({ usageScope, isCountedElsewhere }: ResolvedStep): boolean {
  return usageScope !== 'duplicate' || isCountedElsewhere === true
}

/** Marks model calls whose tokens are reported by a step above. */
function markCountedAbove(walk: readonly StepNode[]): void {
  for (const node of walk) {
    const { step, parent } = node
    if (parent === null) continue
    if (parent.bits & COUNTED_ABOVE || parent.step.usageScope === 'call') node.bits |= COUNTED_ABOVE
    if (node.bits & COUNTED_ABOVE && callBitOf(step) !== 0) step.isCountedAbove = true
  }
}

function callBitOf({ kind }: ResolvedStep): number {
  if (kind === 'llm') return LLM_CALL_BELOW
  return kind === 'embedding' ? EMBEDDING_CALL_BELOW : 0
}
