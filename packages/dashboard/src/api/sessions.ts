import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query'
import type { SessionSummary } from '@playhead/model'
import type { ApiResponses } from '@playhead/server/api-types'
import { callApi, type QueryParameters } from './call-api.ts'
import { useProjectId } from './projects.ts'

type SessionPage = ApiResponses['GET /api/sessions']
/** A session of the list, with its first suspect if something went wrong. */
export type ListedSession = SessionPage['sessions'][number]
export type SessionPages = InfiniteData<SessionPage, string | undefined>

const SESSIONS_A_PAGE = 100

export function sessionsKey(project: string, parameters: QueryParameters) {
  return ['sessions', project, parameters] as const
}

/** Fetches one page of the list. */
export function fetchSessions(
  project: string,
  parameters: QueryParameters,
  signal?: AbortSignal,
): Promise<SessionPage> {
  return callApi('GET /api/sessions', { query: { project, limit: SESSIONS_A_PAGE, ...parameters }, signal })
}

/** The list of sessions, loaded page by page. */
export function useSessionList(parameters: QueryParameters) {
  const project = useProjectId()
  return useInfiniteQuery({
    queryKey: sessionsKey(project, parameters),
    queryFn: ({ pageParam, signal }) =>
      fetchSessions(project, { ...parameters, suspects: 'true', cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    // The live feed keeps the list up to date; refetching all its pages would make it jump.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: 0,
  })
}

/** The first page of sessions that match, without live updates. */
export function useSomeSessions(parameters: QueryParameters, options: { enabled?: boolean } = {}) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['some-sessions', project, parameters],
    queryFn: ({ signal }) => fetchSessions(project, parameters, signal),
    select: ({ sessions }) => sessions,
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
  })
}

export function useDeleteSessions() {
  const client = useQueryClient()
  const project = useProjectId()
  return useMutation({
    mutationFn: (ids: string[]) =>
      callApi('POST /api/sessions/delete', { query: { project }, body: { ids } }),
    onSuccess: ({ deleted }) => {
      const gone = new Set(deleted)
      client.setQueriesData<SessionPages>({ queryKey: ['sessions', project] }, (data) =>
        data === undefined
          ? data
          : mapSessions(data, (session) => (gone.has(session.id) ? undefined : session)),
      )
      return client.invalidateQueries({ queryKey: ['stats', project] })
    },
  })
}

/** Replaces each session of the cached pages, or removes it if `change` returns undefined. */
export function mapSessions(
  data: SessionPages,
  change: (session: SessionSummary) => SessionSummary | undefined,
): SessionPages {
  return {
    ...data,
    pages: data.pages.map((page) => ({
      ...page,
      sessions: page.sessions.flatMap((session) => change(session) ?? []),
    })),
  }
}
