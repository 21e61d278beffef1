import { LOST_AFTER_MS, type EndState } from '../session/end-state.ts'
import { hasFailed } from '../session/failure.ts'
import type { ResolvedStep } from './resolved-step.ts'
import type { SessionFacts } from '../session/step-draft.ts'

/**
 * The end state that follows from the steps, without a clock. An open session is running while data arrives, then
 * `whenSilent`. A closed session is `whenSilent`.
 */
export type DerivedEndState = { isOpen: boolean; whenSilent: Exclude<EndState, 'running'> }

/**
 * A reported end state wins, first that of the root. A step that has not ended, or whose parent has not arrived,
 * leaves the session open. Otherwise an error of a root means failure; errors below were handled.
 */
export function deriveEndState(steps: readonly ResolvedStep[]): DerivedEndState {
  const { endState: given, endStateReason } = reportedEndState(steps) ?? {}
  if (given === 'indeterminate' && !endStateReason && endsWithFailure(steps))
    return { isOpen: false, whenSilent: 'fail' }
  if (given !== undefined) return { isOpen: false, whenSilent: given }
  let isOpen = steps.length === 0
  let hasRoot = false
  let hasOpenRoot = false
  let hasFailedRoot = false
  for (const step of steps) {
    if (step.status === 'running' || step.isOrphan === true) isOpen = true
    if (step.depth > 0) continue
    if (hasFailed(step) && step.isInferred !== true) hasFailedRoot = true
    if (step.isOrphan === true) continue
    hasRoot = true
    if (step.status === 'running') hasOpenRoot = true
  }
  if (hasFailedRoot) return { isOpen, whenSilent: 'fail' }
  const hasEnded = hasRoot && !hasOpenRoot
  return { isOpen, whenSilent: hasEnded ? 'success' : 'lost' }
}

/** True when the last agent or task threw and nothing came after it. Without a reason, "Indeterminate" only means that nobody said how it ended. */
function endsWithFailure(steps: readonly ResolvedStep[]): boolean {
  const last = steps.findLast(({ kind, depth }) => depth > 0 && (kind === 'agent' || kind === 'workflow'))
  if (last?.status !== 'error' || last.endedAtMs === null) return false
  const endMs = last.endedAtMs
  return !steps.some((step) => step.startedAtMs > endMs)
}

/** The end state at a moment. A session that was heard in the future is not running: the clock was ahead then. */
export function endStateAt(
  settled: DerivedEndState,
  context: { nowMs: number; lastHeardAtMs: number },
): EndState {
  const isHeard = Math.abs(context.nowMs - context.lastHeardAtMs) <= LOST_AFTER_MS
  return settled.isOpen && isHeard ? 'running' : settled.whenSilent
}

/** The roots of a session, then the steps whose parent is missing. The first one names the session. */
export function topSteps(steps: readonly ResolvedStep[]): ResolvedStep[] {
  const top = steps.filter((step) => step.depth === 0)
  return top.length < 2
    ? top
    : [...top.filter((step) => !step.isOrphan), ...top.filter((step) => step.isOrphan)]
}

/** The reported end of a session: by its root, otherwise by the first step that reports one. */
export function reportedEndState(steps: readonly ResolvedStep[]): SessionFacts | undefined {
  let given: SessionFacts | undefined
  for (const { session, depth, isOrphan } of steps) {
    if (session?.endState === undefined) continue
    if (depth === 0 && isOrphan !== true) return session
    given ??= session
  }
  return given
}
