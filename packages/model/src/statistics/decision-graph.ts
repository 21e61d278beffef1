import type { EndState } from '../session/end-state.ts'
import type { Interval } from './statistics.ts'
import type { StepKind } from '../session/step.ts'

/** Failed sessions among those that ended, with the confidence interval of the failure rate. */
export type GraphFailure = { failed: number; ended: number; rate: number | null; interval: Interval }

export type GraphNode = {
  id: string
  kind: StepKind | 'start' | 'end'
  name: string
  /** The end state, for an end node. */
  state?: EndState
  sessions: number
  /** How often it was visited in all sessions. */
  times: number
  errors: number
  isWrite: boolean
  p90Ms: number | null
  /** The average cost of the sessions that pass through it; null when none is priced. */
  cost: number | null
  failure: GraphFailure
}

export type GraphEdge = {
  from: string
  to: string
  sessions: number
  cost: number | null
  failure: GraphFailure
}

export type GraphVariant = {
  id: string
  /** Node ids, with loops taken once. */
  path: string[]
  sessions: number
  failure: GraphFailure
  cost: number | null
  examples: { passed: string[]; failed: string[]; last: string }
}

export type DecisionGraph = {
  sessions: number
  failure: GraphFailure
  /** True when more sessions match than were read. */
  isPartial: boolean
  nodes: GraphNode[]
  edges: GraphEdge[]
  variants: GraphVariant[]
  /** The number of variants; `variants` has the most common ones. */
  variantCount: number
}
