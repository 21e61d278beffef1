import type { StepOutline } from '../session/step-draft.ts'
import { usageFields, type Usage } from '../session/usage.ts'

/** Two reports of one call may differ by this much where clocks have milliseconds only. */
export const OVERLAP_SLACK_MS = 1
/** What a framework does between the end of the reply and the end of its span. */
const END_SLACK_MS = 100
/** Short replies have the same number of tokens by chance. */
const TELLING_TOKENS = 16

/** The fields by which two reports of one call are compared. */
export type ReportedCall = Pick<
  StepOutline,
  | 'startedAtMs'
  | 'endedAtMs'
  | 'kind'
  | 'name'
  | 'dialect'
  | 'reporter'
  | 'responseId'
  | 'model'
  | 'requestedModel'
> & { usage?: Pick<Usage, 'input' | 'output'> } & Partial<Pick<StepOutline, 'parentId' | 'outputPreview'>>

/**
 * True when two steps report the same call: same response id and model, overlapping in time, from different
 * instrumentations. One instrumentation never reports a call twice under one name; that would be a scripted model
 * that repeats its response id.
 */
export function isSameCall(left: ReportedCall, right: ReportedCall): boolean {
  if (left.responseId === undefined || left.responseId !== right.responseId) return false
  const isApart =
    left.startedAtMs > (right.endedAtMs ?? Infinity) + OVERLAP_SLACK_MS ||
    right.startedAtMs > (left.endedAtMs ?? Infinity) + OVERLAP_SLACK_MS
  return !isApart && !isSameReporter(left, right) && isSameModel(left, right)
}

/**
 * The same question where a report lacks the response id. One is a client's span that stands alone, the other the span of
 * a run, by another instrumentation, around it: both ended together, and model, tokens and reply are the same. Two calls
 * of one run, or of two runs, are never taken for one.
 */
export function isSameCallByFigures(left: ReportedCall, right: ReportedCall): boolean {
  if (left.responseId !== undefined && right.responseId !== undefined) return false
  if ((left.parentId === null) === (right.parentId === null)) return false
  const [alone, ofRun] = left.parentId === null ? [left, right] : [right, left]
  if (alone.reporter === undefined || ofRun.reporter === undefined || alone.reporter === ofRun.reporter)
    return false
  const hasModels =
    (alone.model ?? alone.requestedModel) !== undefined && (ofRun.model ?? ofRun.requestedModel) !== undefined
  return (
    alone.kind === ofRun.kind &&
    hasModels &&
    isSameModel(alone, ofRun) &&
    hasSameFigures(alone, ofRun) &&
    isWithin(alone, ofRun)
  )
}

/** The input, or the reply, may be missing in one of the reports. Without both, only a long reply tells calls apart. */
function hasSameFigures(left: ReportedCall, right: ReportedCall): boolean {
  const output = left.usage?.output ?? 0
  if (output === 0 || output !== right.usage?.output) return false
  const [leftInput, rightInput] = [left.usage?.input ?? 0, right.usage?.input ?? 0]
  const hasInputs = leftInput > 0 && rightInput > 0
  if (hasInputs && leftInput !== rightInput) return false
  const hasReplies = left.outputPreview !== undefined && right.outputPreview !== undefined
  if (hasReplies && left.outputPreview !== right.outputPreview) return false
  return hasInputs || hasReplies || output >= TELLING_TOKENS
}

function isWithin(inner: ReportedCall, outer: ReportedCall): boolean {
  if (inner.endedAtMs === null || outer.endedAtMs === null) return false
  const endsLaterMs = outer.endedAtMs - inner.endedAtMs
  return (
    inner.startedAtMs >= outer.startedAtMs - OVERLAP_SLACK_MS &&
    endsLaterMs >= -OVERLAP_SLACK_MS &&
    endsLaterMs <= END_SLACK_MS
  )
}

export function isSameReporter(left: ReportedCall, right: ReportedCall): boolean {
  if (left.reporter !== right.reporter) return false
  return left.dialect === right.dialect && left.name === right.name && left.kind === right.kind
}

export function isSameModel(left: ReportedCall, right: ReportedCall): boolean {
  const leftModel = left.model ?? left.requestedModel
  const rightModel = right.model ?? right.requestedModel
  if (leftModel === undefined || rightModel === undefined) return true
  return leftModel.startsWith(rightModel) || rightModel.startsWith(leftModel)
}

/**
 * Ranks reports of the same call by how much they say about its cost; the highest is counted. Among equals, a step
 * inside a run ranks above one that stands alone. Ties go to the earlier step, then to the smaller id.
 */
export function costRelevance(outline: StepOutline): number {
  const { usage } = outline
  let relevance = outline.parentId === null ? 0 : 0.5
  if (usage !== undefined)
    for (const field of usageFields) if (field !== 'total' && (usage[field] ?? 0) > 0) relevance += 2
  if (outline.cost !== undefined) relevance += 1
  if (outline.costSource === 'reported') relevance += 1
  if (outline.model !== undefined) relevance += 1
  return outline.isUsageEstimated === true ? relevance - 100 : relevance
}
