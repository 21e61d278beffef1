import { useQuery } from '@tanstack/react-query'
import { useSessionSource } from './session-source.ts'

export function sessionKey(sourceName: string, sessionId: string) {
  return ['session', sourceName, sessionId] as const
}

/** A session with all its steps and few payloads. It is only refetched for live events. */
export function useSession(sessionId: string) {
  const source = useSessionSource()
  return useQuery({
    queryKey: sessionKey(source.name, sessionId),
    queryFn: ({ signal }) => source.readSession(sessionId, signal),
    staleTime: Infinity,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // Comparing 100,000 steps with the previous ones takes longer than rendering them.
    structuralSharing: false,
  })
}

/** All payloads of a session; loaded when the user searches in them. */
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
