import { LOST_AFTER_MS, type EndState } from '../session/end-state.ts'
import { hasFailed } from '../session/failure.ts'
import type { ResolvedStep } from './resolved-step.ts'
import type { SessionFacts } from '../session/step-draft.ts'

/**
 * How a session ended, as far as its steps can tell without a clock: an open one runs for as long as something was
 * heard of it lately, and is what `whenSilent` says from then on. For one that is not open, `whenSilent` is its end state.
 */
export type DerivedEndState = { isOpen: boolean; whenSilent: Exclude<EndState, 'running'> }

/**
 * A given end state wins, the root's before any other step's. A step that never ended, or an orphan whose parent has
 * yet to arrive, leaves the session open. Otherwise the roots tell: an error there is a failure, one further down was handled.
 */
export function deriveEndState(steps: readonly ResolvedStep[]): DerivedEndState {
  const given = reportedEndState(steps)?.endState
  if (given !== undefined) return { isOpen: false, whenSilent: given }
  let isOpen = steps.length === 0
  let hasRoot = false
  let hasOpenRoot = false
  let hasFailedRoot = false
  for (const step of steps) {
    if (step.status === 'running' || step.isOrphan === true) isOpen = true
    if (step.depth > 0) continue
    if (hasFailed(step)) hasFailedRoot = true
    if (step.isOrphan === true) continue
    hasRoot = true
    if (step.status === 'running') hasOpenRoot = true
  }
  if (hasFailedRoot) return { isOpen, whenSilent: 'fail' }
  const hasEnded = hasRoot && !hasOpenRoot
  return { isOpen, whenSilent: hasEnded ? 'success' : 'lost' }
}

/** The end state at a moment. */
export function endStateAt(
  settled: DerivedEndState,
  context: { nowMs: number; lastHeardAtMs: number },
): EndState {
  const isHeard = context.nowMs - context.lastHeardAtMs <= LOST_AFTER_MS
  return settled.isOpen && isHeard ? 'running' : settled.whenSilent
}

/** The steps at the top of a session: its roots, then those whose parent is missing. The first is the one that names it. */
export function topSteps(steps: readonly ResolvedStep[]): ResolvedStep[] {
  const top = steps.filter((step) => step.depth === 0)
  return top.length < 2
    ? top
    : [...top.filter((step) => !step.isOrphan), ...top.filter((step) => step.isOrphan)]
}

/** What was said of a session's end: by its root, else by the first step that says anything. */
export function reportedEndState(steps: readonly ResolvedStep[]): SessionFacts | undefined {
  let given: SessionFacts | undefined
  for (const { session, depth, isOrphan } of steps) {
    if (session?.endState === undefined) continue
    if (depth === 0 && isOrphan !== true) return session
    given ??= session
  }
  return given
}
