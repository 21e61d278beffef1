import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'
import { useProjectId } from './projects.ts'

export type Destination = ApiResponses['GET /api/destinations']['destinations'][number]
export type SavedDestination = ApiResponses['PATCH /api/destinations/{id}']
export type DestinationKind = Destination['kind']
export type NewDestination = ApiBodies['POST /api/destinations']
export type DestinationChange = ApiBodies['PATCH /api/destinations/{id}']
export type Delivery = ApiResponses['GET /api/deliveries']['deliveries'][number]

const REFRESH_MS = 15_000
const SHOWN_DELIVERIES = 100

/** Where alerts of the project go. */
export function useDestinations() {
  const project = useProjectId()
  return useQuery({
    queryKey: ['destinations', project],
    queryFn: ({ signal }) => callApi('GET /api/destinations', { query: { project }, signal }),
    select: ({ destinations }) => destinations,
    refetchInterval: REFRESH_MS,
  })
}

/** The newest messages, with every attempt. */
export function useDeliveries() {
  const project = useProjectId()
  return useQuery({
    queryKey: ['deliveries', project],
    queryFn: ({ signal }) =>
      callApi('GET /api/deliveries', { query: { project, limit: SHOWN_DELIVERIES }, signal }),
    select: ({ deliveries }) => deliveries,
    refetchInterval: REFRESH_MS,
  })
}

function useChange<Input, Output>(change: (project: string, input: Input) => Promise<Output>) {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => change(project, input),
    onSuccess: () =>
      Promise.all(
        ['destinations', 'deliveries'].map((what) => client.invalidateQueries({ queryKey: [what, project] })),
      ),
  })
}

export function useCreateDestination() {
  return useChange((project, body: NewDestination) =>
    callApi('POST /api/destinations', { query: { project }, body }),
  )
}

export function useChangeDestination() {
  return useChange((project, { id, change }: { id: string; change: DestinationChange }) =>
    callApi('PATCH /api/destinations/{id}', { path: { id }, query: { project }, body: change }),
  )
}

export function useDeleteDestination() {
  return useChange((project, id: string) =>
    callApi('DELETE /api/destinations/{id}', { path: { id }, query: { project } }),
  )
}

/** Sends a test message, and says how it went. */
export function useTestDestination() {
  return useChange((project, id: string) =>
    callApi('POST /api/destinations/{id}/test', { path: { id }, query: { project } }),
  )
}
