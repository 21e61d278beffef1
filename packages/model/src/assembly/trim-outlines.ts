import type { StepOutline, ToolAnswer, ToolRequest } from '../session/step-draft.ts'
import { isBareArgument, mayExecute } from './infer-actions.ts'

/** Removes what a session never needs of outlines that arrived together, because the others of them say it too. */
export function trimOutlines(outlines: readonly StepOutline[]): void {
  dropRecordedToolUse(outlines)
  dropLaterQuestions(outlines)
}

/** A tool whose own step has the same call id and lacks nothing is neither inferred nor completed. */
function dropRecordedToolUse(outlines: readonly StepOutline[]): void {
  const recorded = new Map<string, StepOutline | undefined>()
  for (const outline of outlines) {
    if (outline.toolCallId === undefined || !mayExecute(outline)) continue
    const key = `${outline.sessionId} ${outline.toolCallId}`
    recorded.set(key, recorded.has(key) || !isComplete(outline) ? undefined : outline)
  }
  if (recorded.size === 0) return
  for (const outline of outlines) {
    if (outline.toolRequests === undefined && outline.toolAnswers === undefined) continue
    const stepOf = ({ id }: ToolRequest | ToolAnswer) => recorded.get(`${outline.sessionId} ${id}`)
    const isUsed = (request: ToolRequest) => {
      const step = stepOf(request)
      return step === undefined || isBareArgument(step.inputPreview!, request)
    }
    // All or none, because the place of a request among the others may be its only name.
    if (outline.toolRequests?.some(isUsed) === false) drop(outline, 'toolRequests')
    const answers = outline.toolAnswers?.filter((answer) => stepOf(answer) === undefined)
    if (answers?.length === 0) drop(outline, 'toolAnswers')
    else if (answers !== undefined) outline.toolAnswers = answers
  }
}

function isComplete({ kind, status, inputPreview, outputPreview }: StepOutline): boolean {
  if (kind !== 'action' || inputPreview === undefined) return false
  return outputPreview !== undefined || status === 'error' || status === 'soft-error'
}

/** The first model call of a session says what the user asked, or a step at its top. */
function dropLaterQuestions(outlines: readonly StepOutline[]): void {
  const first = new Map<string, StepOutline>()
  for (const outline of outlines) {
    if (outline.kind !== 'llm' || outline.inputPreview === undefined) continue
    const earliest = first.get(outline.sessionId)
    if (earliest === undefined || outline.startedAtMs < earliest.startedAtMs)
      first.set(outline.sessionId, outline)
  }
  for (const outline of outlines) {
    const earliest = first.get(outline.sessionId)
    const isLater = earliest !== undefined && outline.startedAtMs > earliest.startedAtMs
    if (isLater && outline.parentId !== null && outline.questionPreview !== undefined)
      drop(outline, 'questionPreview')
  }
}

/** Not deleted: V8 keeps an object that lost a field as a hash table, and every later access is slow. */
function drop(outline: StepOutline, field: 'toolRequests' | 'toolAnswers' | 'questionPreview'): void {
  ;(outline as { [Field in typeof field]?: unknown })[field] = undefined
}
