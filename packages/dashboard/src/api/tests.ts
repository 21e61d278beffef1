import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { TestHistory } from '@playhead/model'
import { apiPath, type Parameters } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

/** The tests that sessions were recorded in. */
export function useTests(parameters: Parameters) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['tests', project, parameters],
    queryFn: ({ signal }) =>
      fetchJson<{ tests: TestHistory[] }>(apiPath('/api/tests', { project, ...parameters }), { signal }),
    select: ({ tests }) => tests,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}
