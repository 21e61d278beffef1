import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi } from './call-api.ts'
import { useProjectId } from './projects.ts'

/** The stored values of a field, most frequent first. */
export function useFieldValues(field: string | undefined, contains = '', limit = 12) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['values', project, field, contains, limit],
    queryFn: ({ signal }) =>
      callApi('GET /api/values', { query: { project, field, contains, limit }, signal }),
    select: ({ values }) => values,
    enabled: field !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}
