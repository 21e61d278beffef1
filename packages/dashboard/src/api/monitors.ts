import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'
import { useProjectId } from './projects.ts'

export type WatchedMonitor = ApiResponses['GET /api/monitors']['monitors'][number]
export type NewMonitor = ApiBodies['POST /api/monitors']
export type MonitorChange = ApiBodies['PATCH /api/monitors/{id}']
export type MonitorPreview = ApiResponses['POST /api/monitors/preview']

const REFRESH_MS = 15_000

/** The monitors of the project, with their states. */
export function useMonitors() {
  const project = useProjectId()
  return useQuery({
    queryKey: ['monitors', project],
    queryFn: ({ signal }) => callApi('GET /api/monitors', { query: { project }, signal }),
    select: ({ monitors }) => monitors,
    refetchInterval: REFRESH_MS,
  })
}

/** When a monitor would have fired; undefined for one that is not complete. */
export function useMonitorPreview(monitor: NewMonitor | undefined) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['monitor-preview', project, monitor],
    queryFn: ({ signal }) =>
      callApi('POST /api/monitors/preview', { query: { project }, body: monitor!, signal }),
    enabled: monitor !== undefined,
    staleTime: 60_000,
    retry: false,
  })
}

function useChange<Input>(change: (project: string, input: Input) => Promise<unknown>) {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => change(project, input),
    onSuccess: () => client.invalidateQueries({ queryKey: ['monitors', project] }),
  })
}

export function useCreateMonitor() {
  return useChange((project, body: NewMonitor) => callApi('POST /api/monitors', { query: { project }, body }))
}

export function useChangeMonitor() {
  return useChange((project, { id, change }: { id: string; change: MonitorChange }) =>
    callApi('PATCH /api/monitors/{id}', { path: { id }, query: { project }, body: change }),
  )
}

export function useDeleteMonitor() {
  return useChange((project, id: string) =>
    callApi('DELETE /api/monitors/{id}', { path: { id }, query: { project } }),
  )
}
