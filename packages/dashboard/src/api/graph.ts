import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi, type QueryParameters } from './call-api.ts'
import { useProjectId } from './projects.ts'

/** The sessions that match a filter, as one graph. */
export function useDecisionGraph(parameters: QueryParameters) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['graph', project, parameters],
    queryFn: ({ signal }) => callApi('GET /api/graph', { query: { project, ...parameters }, signal }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
}

/** The sessions that pass through a node or an edge of the graph. */
export function useGraphSessions(parameters: QueryParameters | undefined) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['graph-sessions', project, parameters],
    queryFn: ({ signal }) =>
      callApi('GET /api/graph/sessions', { query: { project, ...parameters }, signal }),
    select: ({ sessions }) => sessions,
    enabled: parameters !== undefined,
    refetchOnWindowFocus: false,
  })
}
