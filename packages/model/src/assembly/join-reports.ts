import type { StepOutline } from '../session/step-draft.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { costRelevance, isSameCall, isSameCallByFigures, isSameModel, OVERLAP_SLACK_MS } from './same-call.ts'
import type { StepNode, StepNodes } from './step-node.ts'

/**
 * Joins a report of a model call that has no content to the report that has it. Clients trace their own calls (Anthropic's
 * SDK), mostly without content, beside the instrumentation that reads it: that is one call, so it is one step. Returns the
 * step that each joined one became.
 */
export function joinReports({ all, byId }: Pick<StepNodes, 'all' | 'byId'>): ReadonlyMap<StepNode, StepNode> {
  const joined = new Map<StepNode, StepNode>()
  const calls = all.filter(({ step }) => step.kind === 'llm' || step.kind === 'embedding')
  const bare = calls.filter(isBare)
  if (bare.length === 0 || bare.length === calls.length) return joined
  const reports: Reports = {
    byId,
    below: Map.groupBy(calls, ({ step }) => step.parentId),
    byResponse: Map.groupBy(calls.filter(isFull), ({ step }) => step.responseId),
  }
  for (const node of bare) {
    const full = findFull(node.step, reports)
    if (full === undefined) continue
    takeReport(full.step, node.step)
    joined.set(node, full)
  }
  if (joined.size > 0) moveChildren({ all, byId }, joined)
  return joined
}

type Reports = {
  byId: StepNodes['byId']
  /** The model calls directly below each step. */
  below: ReadonlyMap<string | null, StepNode[]>
  byResponse: ReadonlyMap<string | undefined, StepNode[]>
}

/** The report with content: by its response id or, without one, directly above or as the only call directly below. */
function findFull(bare: ResolvedStep, { byId, below, byResponse }: Reports): StepNode | undefined {
  const sameResponse = bare.responseId === undefined ? [] : (byResponse.get(bare.responseId) ?? [])
  const known = sameResponse.find(({ step }) => isSameCall(step, bare) && isSameEnd(step, bare))
  if (known !== undefined) return known
  const above = bare.parentId === null ? undefined : byId.get(bare.parentId)
  const inside = below.get(bare.id) ?? []
  const siblings = below.get(bare.parentId) ?? []
  // A call that failed has no response id; beside its other report it ran within it.
  const around = bare.status === 'error' ? siblings.filter(({ step }) => isAround(step, bare)) : []
  const beside = [
    ...(above !== undefined && siblings.length === 1 ? [above] : []),
    ...(inside.length === 1 ? inside : []),
    ...(around.length === 1 ? around : []),
  ]
  return beside.find((node) => isFull(node) && isReportOf(node.step, bare))
}

function isReportOf(full: ResolvedStep, bare: ResolvedStep): boolean {
  if (full.kind !== bare.kind || full.reporter === bare.reporter) return false
  if (full.responseId !== undefined && bare.responseId !== undefined) return false
  return isSameModel(full, bare) && isSameEnd(full, bare)
}

function isAround(outer: ResolvedStep, inner: ResolvedStep): boolean {
  if (outer === inner || outer.endedAtMs === null || inner.endedAtMs === null) return false
  return (
    outer.startedAtMs <= inner.startedAtMs + OVERLAP_SLACK_MS &&
    outer.endedAtMs >= inner.endedAtMs - OVERLAP_SLACK_MS
  )
}

/** An error that only the bare report has would be lost. */
function isSameEnd(full: ResolvedStep, bare: ResolvedStep): boolean {
  if ((full.endedAtMs === null) !== (bare.endedAtMs === null)) return false
  return bare.status === 'ok' || bare.status === full.status
}

/** A step that may turn out to group others is no report. */
function isBare({ step }: StepNode): boolean {
  return !hasContent(step) && step.isUsageRollup !== true && step.treeQuestion === undefined
}

function isFull({ step }: StepNode): boolean {
  return hasContent(step) && step.isUsageRollup !== true
}

function hasContent({ inputPreview, outputPreview, toolRequests }: ResolvedStep): boolean {
  return inputPreview !== undefined || outputPreview !== undefined || toolRequests !== undefined
}

const costFields = ['usage', 'reportedCost', 'cost', 'costSource', 'isUsageEstimated'] as const
const otherFields = ['responseId', 'finishReasons', 'firstTokenMs', 'provider', 'agent'] as const

/** Gives calls of this session the figures that a client's span, a session of its own, reports of them. */
export function takeReportsElsewhere(nodes: readonly StepNode[], reports: readonly StepOutline[]): void {
  const calls = new Set(nodes.filter(({ step }) => step.kind === 'llm' || step.kind === 'embedding'))
  for (const report of reports)
    for (const node of calls)
      if (isSameCall(node.step, report) || isSameCallByFigures(node.step, report)) {
        calls.delete(node)
        takeFigures(node.step, report)
        break
      }
}

function takeReport(full: ResolvedStep, bare: ResolvedStep): void {
  takeFigures(full, bare)
  full.parts = [...(full.parts ?? []), bare.id]
}

/** The report that says more about the cost counts. */
function takeFigures(full: ResolvedStep, bare: StepOutline): void {
  const target = full as Record<string, unknown>
  const relevance = (step: StepOutline) => costRelevance({ ...step, parentId: null })
  if (relevance(bare) > relevance(full)) {
    for (const field of costFields)
      if (bare[field] === undefined) delete target[field]
      else target[field] = bare[field]
    if (bare.model !== undefined) full.model = bare.model
  }
  for (const field of otherFields) if (bare[field] !== undefined) target[field] ??= bare[field]
}

/** What was below a joined step is below the step that it became or, if that is one of these, below its parent. */
function moveChildren(
  { all, byId }: Pick<StepNodes, 'all' | 'byId'>,
  joined: ReadonlyMap<StepNode, StepNode>,
): void {
  const parents = new Map<string, string | null>()
  for (const [bare, full] of joined) {
    const isBelow = isInside(full, bare, byId)
    parents.set(bare.step.id, isBelow ? bare.step.parentId : full.step.id)
  }
  for (const { step } of all)
    for (let moves = 0; step.parentId !== null && moves <= parents.size; moves += 1) {
      const parentId = parents.get(step.parentId)
      if (parentId === undefined) break
      step.parentId = parentId
    }
}

function isInside(node: StepNode, outer: StepNode, byId: StepNodes['byId']): boolean {
  const visited = new Set<StepNode>()
  let current: StepNode | undefined = node
  while (current !== undefined && !visited.has(current)) {
    if (current === outer) return true
    visited.add(current)
    current = current.step.parentId === null ? undefined : byId.get(current.step.parentId)
  }
  return false
}
