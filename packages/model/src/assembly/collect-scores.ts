import type { LogOutline } from '../session/log-draft.ts'
import type { Score, ScoreDraft } from '../session/score.ts'
import { isoTime } from '../session/session-time.ts'
import type { StepOutline } from '../session/step-draft.ts'

/** True for a span that only brings a score, and is no step of its session. */
export function isScoreOnly({ isScore }: StepOutline): boolean {
  return isScore === true
}

/**
 * All scores of a session, newest first, from its spans and log records in any order. One that was sent twice is there
 * once. A score of the root is one of the session.
 */
export function collectScores(outlines: readonly StepOutline[], logs: readonly LogOutline[] = []): Score[] {
  const drafts = [
    ...outlines.flatMap(({ scores = [] }) => scores),
    ...logs.flatMap(({ adds }) => adds?.scores ?? []),
  ]
  if (drafts.length === 0) return []
  const roots = new Set<string>()
  const steps = new Map<string, string>()
  for (const { id, parentId, responseId, isScore } of outlines) {
    if (isScore === true) continue
    if (parentId === null) roots.add(id)
    if (responseId !== undefined) steps.set(responseId, id)
  }
  const scores = new Map<string, Score>()
  for (const draft of drafts.toSorted(oldestFirst)) {
    const score = toScore(draft, draft.stepId ?? steps.get(draft.responseId ?? ''))
    if (score.stepId !== undefined && roots.has(score.stepId)) delete score.stepId
    if (!scores.has(score.id)) scores.set(score.id, score)
  }
  return [...scores.values()].toReversed()
}

/** The order of equal times does not depend on the order of arrival. */
function oldestFirst(left: ScoreDraft, right: ScoreDraft): number {
  return left.atMs - right.atMs || (left.id < right.id ? -1 : 1)
}

function toScore({ id, name, value, source, comment, atMs }: ScoreDraft, stepId: string | undefined): Score {
  return {
    id,
    name,
    value,
    source,
    ...(comment !== undefined && { comment }),
    ...(stepId !== undefined && { stepId }),
    at: isoTime(atMs),
  }
}
