import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { apiPath } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

export type FieldValue = { value: string; sessions: number }

/** Values that occur in a field, most frequent first. */
export function useFieldValues(field: string | undefined, contains = '', limit = 12) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['values', project, field, contains, limit],
    queryFn: ({ signal }) =>
      fetchJson<{ values: FieldValue[] }>(apiPath('/api/values', { project, field, contains, limit }), {
        signal,
      }),
    select: ({ values }) => values,
    enabled: field !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}
