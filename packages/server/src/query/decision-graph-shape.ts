import { wilson, type EndState, type Interval, type StepKind } from '@playhead/model'

/** How many of the sessions that ended failed, and between which shares the true one lies. */
export type Failure = { failed: number; ended: number; rate: number | null; interval: Interval }

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
  failure: Failure
}

export type GraphEdge = {
  from: string
  to: string
  sessions: number
  cost: number | null
  failure: Failure
}

export type GraphVariant = {
  id: string
  /** Ids of nodes, loops taken once. */
  path: string[]
  sessions: number
  failure: Failure
  cost: number | null
  examples: { passed: string[]; failed: string[]; last: string }
}

export type DecisionGraph = {
  sessions: number
  failure: Failure
  /** True when there are more sessions than were looked at. */
  isPartial: boolean
  nodes: GraphNode[]
  edges: GraphEdge[]
  variants: GraphVariant[]
  /** How many ways there are; `variants` has the most common. */
  variantCount: number
}

export type VariantRow = Record<EndState, number> & {
  path: string[]
  sessions: number
  total_cost: number | null
  priced: number
  passed_examples: string[]
  failed_examples: string[]
  example: string
}

export type StepFigures = {
  key: string
  kind: StepKind
  name: string
  is_write: number
  times: number
  sessions: number
  errors: number
  p90_ms: number | null
}

/** Failures among the sessions that ended one way or the other. */
export function failureOf(failed: number, passed: number): Failure {
  const ended = failed + passed
  return { failed, ended, rate: ended === 0 ? null : failed / ended, interval: wilson(failed, ended) }
}
