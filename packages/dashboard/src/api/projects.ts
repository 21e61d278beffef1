import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type Project = ApiResponses['GET /api/projects']['projects'][number]

/** The project of requests that don't name one. */
export const DEFAULT_PROJECT = 'default'

const LAST_PROJECT_KEY = 'playhead.project'

/** The id of the page's project. */
export function useProjectId(): string {
  const { project } = useSearch({ strict: false })
  return project ?? DEFAULT_PROJECT
}

/** The project that was open last, for addresses that don't name one. */
export function lastProject(): string | undefined {
  const id = localStorage.getItem(LAST_PROJECT_KEY)
  return id === null || id === DEFAULT_PROJECT ? undefined : id
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT_KEY, id)
}

export function useProjects(isEnabled = true) {
  return useQuery({
    queryKey: ['projects'],
    queryFn: () => callApi('GET /api/projects', {}),
    select: ({ projects }) => projects,
    staleTime: 30_000,
    enabled: isEnabled,
  })
}

export function useCreateProject() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ApiBodies['POST /api/projects']) => callApi('POST /api/projects', { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['projects'] }),
  })
}

/** What the project sent today. */
export function useUsage(id: string) {
  return useQuery({
    queryKey: ['projects', id, 'usage'],
    queryFn: () => callApi('GET /api/projects/{project}/usage', { path: { project: id } }),
    refetchInterval: 10_000,
  })
}

export function useUpdateProject(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ApiBodies['PATCH /api/projects/{project}']) =>
      callApi('PATCH /api/projects/{project}', { path: { project: id }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['projects'] }),
  })
}
