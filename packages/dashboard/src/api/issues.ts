import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'
import { useProjectId } from './projects.ts'

export type Issue = ApiResponses['GET /api/issues']['issues'][number]
export type IssueDetail = ApiResponses['GET /api/issues/{id}']
export type IssueChange = ApiBodies['PATCH /api/issues/{id}']

/** The issues of the project, in every state. */
export function useIssues() {
  return useQuery({ ...useIssuesQuery(), select: ({ issues }) => issues })
}

/** How many issues are too many to be listed. */
export function useOmittedIssues(): number {
  return useQuery({ ...useIssuesQuery(), select: ({ omitted }) => omitted }).data ?? 0
}

function useIssuesQuery() {
  const project = useProjectId()
  return queryOptions({
    queryKey: ['issues', project],
    queryFn: ({ signal }) => callApi('GET /api/issues', { query: { project }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}

/** One issue, by version, with its suspects. */
export function useIssue(id: string) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['issues', project, id],
    queryFn: ({ signal }) => callApi('GET /api/issues/{id}', { path: { id }, query: { project }, signal }),
  })
}

/** Changes an issue; `id` says which. */
export function useChangeIssue() {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: IssueChange & { id: string }) =>
      callApi('PATCH /api/issues/{id}', { path: { id }, query: { project }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['issues', project] }),
  })
}
