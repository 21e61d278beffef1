import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { EndState, Interval, SessionSummary, StepKind } from '@playhead/model'
import { apiPath, type Parameters } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

export type Failure = { failed: number; ended: number; rate: number | null; interval: Interval }

export type GraphNode = {
  id: string
  kind: StepKind | 'start' | 'end'
  name: string
  state?: EndState
  sessions: number
  times: number
  errors: number
  isWrite: boolean
  p90Ms: number | null
  cost: number | null
  failure: Failure
}

export type GraphEdge = { from: string; to: string; sessions: number; cost: number | null; failure: Failure }

export type GraphVariant = {
  id: string
  path: string[]
  sessions: number
  failure: Failure
  cost: number | null
  examples: { passed: string[]; failed: string[]; last: string }
}

export type DecisionGraph = {
  sessions: number
  failure: Failure
  isPartial: boolean
  nodes: GraphNode[]
  edges: GraphEdge[]
  variants: GraphVariant[]
  variantCount: number
}

/** The sessions that a filter finds, as one graph. */
export function useDecisionGraph(parameters: Parameters) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['graph', project, parameters],
    queryFn: ({ signal }) =>
      fetchJson<DecisionGraph>(apiPath('/api/graph', { project, ...parameters }), { signal }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
}

/** The sessions through a node or an edge of it. */
export function useGraphSessions(parameters: Parameters | undefined) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['graph-sessions', project, parameters],
    queryFn: ({ signal }) =>
      fetchJson<{ sessions: SessionSummary[] }>(apiPath('/api/graph/sessions', { project, ...parameters }), {
        signal,
      }),
    select: ({ sessions }) => sessions,
    enabled: parameters !== undefined,
    refetchOnWindowFocus: false,
  })
}
