import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type Person = ApiResponses['GET /api/people']['people'][number]
export type Role = Person['roles'][string]

export function usePeople() {
  return useQuery({
    queryKey: ['people'],
    queryFn: () => callApi('GET /api/people', {}),
    select: ({ people }) => people,
  })
}

export function useUpdatePerson() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: ApiBodies['PATCH /api/people/{id}'] & { id: string }) =>
      callApi('PATCH /api/people/{id}', { path: { id }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['people'] }),
  })
}
