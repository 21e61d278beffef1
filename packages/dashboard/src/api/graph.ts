import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { DecisionGraph, SessionSummary } from '@playhead/model'
import { apiPath, type Parameters } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

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
