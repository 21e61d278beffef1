import type { LogOutline } from '../session/log-draft.ts'
import type { StepOutline } from '../session/step-draft.ts'
import type { UsageScope } from '../session/usage.ts'

/** A step whose place in its session is known: its parent, its kind, whether its tokens count, who owns its error. */
export type ResolvedStep = StepOutline & {
  /** 0 for a step at the top of its session. */
  depth: number
  /** True when the step names a parent that never arrived; `parentId` still says which. */
  isOrphan?: boolean
  /** Present on every step with usage or cost, and on a call that is a duplicate of another. */
  usageScope?: UsageScope
  /** True for a model call that a step below it reports again, closer to the wire. */
  isRepeatedBelow?: boolean
  /** True when a step above it is counted for the tokens that this one does not report. */
  isCountedAbove?: boolean
  /** The log records that added to it, oldest first. */
  addedBy?: LogOutline[]
}
