import type { LogOutline } from '../session/log-draft.ts'
import type { StepOutline } from '../session/step-draft.ts'
import type { UsageScope } from '../session/usage.ts'

/** A step with everything that depends on its session: parent, kind, whether its tokens count, who owns its error. */
export type ResolvedStep = StepOutline & {
  /** 0 for a root. */
  depth: number
  /** True when the parent never arrived; `parentId` still names it. */
  isOrphan?: boolean
  /** Present on every step with usage or cost, and on a call that is a duplicate of another. */
  usageScope?: UsageScope
  /** True for a call whose tokens another session counts. */
  isCountedElsewhere?: boolean
  /** True for a model call that a step below reports again. */
  isRepeatedBelow?: boolean
  /** True when the tokens of this call are counted on a step above. */
  isCountedAbove?: boolean
  /** Spans that tell of a part of this call, and are no steps of their own. */
  parts?: string[]
  /** The step around this call that has its messages. */
  contentFrom?: string
  /** The model call that asked for this action, if the action lacks arguments of its own. */
  requestedBy?: string
  /** Which call of that reply it is, where calls have no ids or none of them was recorded. */
  requestIndex?: number
  /** The model call that got its result, if the action lacks a result of its own. */
  answeredBy?: string
  /** The log records that added to it, oldest first. */
  addedBy?: LogOutline[]
}
