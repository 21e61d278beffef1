import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi, type QueryParameters } from './call-api.ts'
import { useProjectId } from './projects.ts'

/** The tests that recorded sessions. */
export function useTests(parameters: QueryParameters) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['tests', project, parameters],
    queryFn: ({ signal }) => callApi('GET /api/tests', { query: { project, ...parameters }, signal }),
    select: ({ tests }) => tests,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}
