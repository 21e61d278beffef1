import { oldestFirst } from './add-logs.ts'
import { collectScores, isScoreOnly } from './collect-scores.ts'
import { contentWithParts } from './join-parts.ts'
import { contentOfAction } from './infer-actions.ts'
import { contentWithLogs, presentStep, type SessionLog } from './present-step.ts'
import type { ResolvedStep } from './resolved-step.ts'
import { resolveSteps, type ResolveOptions } from './resolve-steps.ts'
import type { Session } from '../session/session.ts'
import type { StepContent, StepOutline } from '../session/step-draft.ts'
import type { Score } from '../session/score.ts'
import { summarizeSession, type TagEdits } from './summarize-session.ts'

export type SessionParts = ResolveOptions & {
  outlines: readonly StepOutline[]
  /** Loaded contents by step id. */
  contents?: ReadonlyMap<string, StepContent> | undefined
  logs?: readonly SessionLog[] | undefined
  nowMs: number
  lastHeardAtMs: number
  tagEdits?: TagEdits | undefined
  /** All scores of the session, newest first. */
  scores?: readonly Score[] | undefined
}

/** Assembles a session from all of its outlines and log records, in any order. */
export function assembleSession(parts: SessionParts): Session {
  const scores = collectScores(parts.outlines, parts.logs)
  const outlines = parts.outlines.filter((outline) => !isScoreOnly(outline))
  return presentSession(resolveSteps(outlines, parts.logs ?? [], parts), { ...parts, scores })
}

/** As `assembleSession`, from steps that are already resolved. */
export function presentSession(
  steps: readonly ResolvedStep[],
  parts: Omit<SessionParts, 'outlines' | keyof ResolveOptions>,
): Session {
  const session = { startedAtMs: steps[0]?.startedAtMs ?? parts.lastHeardAtMs }
  const logsOf = groupLogs(parts.logs ?? [], steps)
  const contentOf = contentReader(steps, parts.contents)
  return {
    session: summarizeSession(steps, parts),
    steps: steps.map((step) => presentStep(step, session, contentOf(step), logsOf.get(step.id))),
    ...(parts.scores !== undefined && parts.scores.length > 0 && { scores: [...parts.scores] }),
  }
}

/**
 * Reads the content of a step from what was loaded, together with what other spans contain of it; `sourcesOf` tells
 * which.
 */
export function contentReader(
  steps: readonly ResolvedStep[],
  contents: ReadonlyMap<string, StepContent> | undefined,
): (step: ResolvedStep) => StepContent | undefined {
  if (contents === undefined) return () => undefined
  const byId = new Map(steps.map((step) => [step.id, step]))
  return (step) =>
    contentOfAction(step, (id) => {
      const source = byId.get(id)
      const content = source === undefined ? undefined : contentWithParts(source, contents)
      return source === undefined || source === step ? content : contentWithLogs(source, content)
    })
}

/** The ids of the spans that hold the content of a step. */
export function sourcesOf(step: ResolvedStep, byId: ReadonlyMap<string, ResolvedStep>): string[] {
  const ids = [step.id, ...(step.parts ?? [])]
  if (step.contentFrom !== undefined) ids.push(step.contentFrom)
  for (const id of [step.requestedBy, step.answeredBy])
    if (id !== undefined) ids.push(id, ...(byId.get(id)?.parts ?? []))
  return ids
}

/** Groups records by step, oldest first. Records that name no step of the session go to its root. */
export function groupLogs(
  logs: readonly SessionLog[],
  steps: readonly ResolvedStep[],
): ReadonlyMap<string, SessionLog[]> {
  const groups = new Map<string, SessionLog[]>()
  if (logs.length === 0) return groups
  const known = new Map(steps.flatMap(({ id, parts = [] }) => [id, ...parts].map((spanId) => [spanId, id])))
  const root = steps.find((step) => step.depth === 0 && step.isOrphan !== true) ?? steps[0]
  for (const log of logs.toSorted(oldestFirst)) {
    const stepId = known.get(log.stepId ?? '') ?? root?.id
    if (stepId === undefined) continue
    const group = groups.get(stepId)
    if (group === undefined) groups.set(stepId, [log])
    else group.push(log)
  }
  return groups
}
