import type { StepOutline, ToolAnswer, ToolRequest } from '../session/step-draft.ts'
import { isBareArgument, mayExecute } from './infer-actions.ts'

/** Removes what a session never needs of outlines that arrived together, because the others of them say it too. */
export function trimOutlines(outlines: readonly StepOutline[]): void {
  for (const session of bySession(outlines)) {
    dropRecordedToolUse(session)
    dropLaterQuestions(session)
  }
}

/** Mostly, the steps of a session come one after the other. */
function bySession(outlines: readonly StepOutline[]): Iterable<StepOutline[]> {
  const sessions = new Map<string, StepOutline[]>()
  let last: StepOutline[] = []
  for (const outline of outlines) {
    if (last[0]?.sessionId !== outline.sessionId) {
      last = sessions.get(outline.sessionId) ?? []
      sessions.set(outline.sessionId, last)
    }
    last.push(outline)
  }
  return sessions.values()
}

/** A tool whose own step has the same call id and lacks nothing is neither inferred nor completed. */
function dropRecordedToolUse(session: readonly StepOutline[]): void {
  const recorded = new Map<string | undefined, StepOutline | undefined>()
  for (const outline of session) {
    const { toolCallId } = outline
    if (toolCallId === undefined || !mayExecute(outline)) continue
    recorded.set(toolCallId, recorded.has(toolCallId) || !isComplete(outline) ? undefined : outline)
  }
  if (recorded.size === 0) return
  const isUsed = (request: ToolRequest) => {
    const step = recorded.get(request.id)
    return step === undefined || isBareArgument(step.inputPreview!, request)
  }
  const isUnknown = ({ id }: ToolAnswer) => recorded.get(id) === undefined
  for (const outline of session) {
    // All or none, because the place of a request among the others may be its only name.
    if (outline.toolRequests?.some(isUsed) === false) drop(outline, 'toolRequests')
    const answers = outline.toolAnswers?.filter(isUnknown)
    if (answers?.length === 0) drop(outline, 'toolAnswers')
    else if (answers !== undefined) outline.toolAnswers = answers
  }
}

function isComplete({ kind, status, inputPreview, outputPreview }: StepOutline): boolean {
  if (kind !== 'action' || inputPreview === undefined) return false
  return outputPreview !== undefined || status === 'error' || status === 'soft-error'
}

/** The first model call of a session says what the user asked, or a step at its top. */
function dropLaterQuestions(session: readonly StepOutline[]): void {
  let firstMs = Infinity
  for (const { kind, inputPreview, startedAtMs } of session)
    if (kind === 'llm' && inputPreview !== undefined) firstMs = Math.min(firstMs, startedAtMs)
  for (const outline of session)
    if (outline.startedAtMs > firstMs && outline.parentId !== null && outline.questionPreview !== undefined)
      drop(outline, 'questionPreview')
}

/** Not deleted: V8 keeps an object that lost a field as a hash table, and every later access is slow. */
function drop(outline: StepOutline, field: 'toolRequests' | 'toolAnswers' | 'questionPreview'): void {
  ;(outline as { [Field in typeof field]?: unknown })[field] = undefined
}
