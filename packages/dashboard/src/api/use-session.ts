import { useQuery } from '@tanstack/react-query'
import { useSessionSource } from './session-source.ts'

export function sessionKey(sourceName: string, sessionId: string) {
  return ['session', sourceName, sessionId] as const
}

/** One session with all its steps, without most payloads. Live events keep it true; it is not asked for again by itself. */
export function useSession(sessionId: string) {
  const source = useSessionSource()
  return useQuery({
    queryKey: sessionKey(source.name, sessionId),
    queryFn: ({ signal }) => source.readSession(sessionId, signal),
    staleTime: Infinity,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // Comparing a hundred thousand steps with a hundred thousand steps takes longer than drawing them.
    structuralSharing: false,
  })
}

/** Every payload of a session, once somebody searches inside them. */
export function useSessionPayloads(sessionId: string, options: { enabled: boolean }) {
  const source = useSessionSource()
  return useQuery({
    queryKey: ['payloads', source.name, sessionId],
    queryFn: ({ signal }) => source.readPayloads(sessionId, signal),
    select: selectSteps,
    enabled: options.enabled,
    staleTime: 60_000,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  })
}

function selectSteps({ steps }: Awaited<ReturnType<ReturnType<typeof useSessionSource>['readPayloads']>>) {
  return new Map(steps.map((step) => [step.id, step]))
}
