import type { EndState } from '../session/end-state.ts'
import type { Interval } from './statistics.ts'
import type { StepKind } from '../session/step.ts'

/** How many of the sessions that ended failed, and between which shares the true one lies. */
export type GraphFailure = { failed: number; ended: number; rate: number | null; interval: Interval }

export type GraphNode = {
  id: string
  kind: StepKind | 'start' | 'end'
  name: string
  /** For an end: the state. */
  state?: EndState
  sessions: number
  /** How often it was taken in all. */
  times: number
  errors: number
  isWrite: boolean
  p90Ms: number | null
  /** What a session through it cost on average; null when nothing could be priced. */
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
  /** Ids of nodes, loops taken once. */
  path: string[]
  sessions: number
  failure: GraphFailure
  cost: number | null
  examples: { passed: string[]; failed: string[]; last: string }
}

export type DecisionGraph = {
  sessions: number
  failure: GraphFailure
  /** True when there are more sessions than were looked at. */
  isPartial: boolean
  nodes: GraphNode[]
  edges: GraphEdge[]
  variants: GraphVariant[]
  /** How many ways there are; `variants` has the most common. */
  variantCount: number
}
