import { useQuery } from '@tanstack/react-query'
import { type Session, namedSuspects, type Findings, type SessionSummary } from '@playhead/model'
import { useSessionSource } from './session-source.ts'

export function sessionKey(sourceName: string, sessionId: string) {
  return ['session', sourceName, sessionId] as const
}

/** A session with all its steps and few payloads. It is only refetched for live events. */
export function useSession(sessionId: string) {
  const source = useSessionSource()
  return useQuery({
    queryKey: sessionKey(source.name, sessionId),
    queryFn: ({ signal }) => source.openSession(sessionId, signal),
    staleTime: Infinity,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // Comparing 100,000 steps with the previous ones takes longer than rendering them.
    structuralSharing: false,
  })
}

/** The steps of a session with previews; loaded when the user searches in those of a long one. */
export function useSessionPreviews(sessionId: string, options: { enabled: boolean }) {
  const source = useSessionSource()
  return useQuery({
    ...searchedQuery,
    queryKey: ['previews', source.name, sessionId],
    queryFn: ({ signal }) => source.readSession(sessionId, signal),
    enabled: options.enabled,
  })
}

/** All payloads of a session; loaded when the user searches in them. */
export function useSessionPayloads(sessionId: string, options: { enabled: boolean }) {
  const source = useSessionSource()
  return useQuery({
    ...searchedQuery,
    queryKey: ['payloads', source.name, sessionId],
    queryFn: ({ signal }) => source.readPayloads(sessionId, signal),
    enabled: options.enabled,
  })
}

const searchedQuery = {
  select: selectSteps,
  staleTime: 60_000,
  gcTime: 60_000,
  refetchOnWindowFocus: false,
  structuralSharing: false,
} as const

function selectSteps({ steps }: Session) {
  return new Map(steps.map((step) => [step.id, step]))
}

const nothing: Findings = { findings: [], suspects: [] }

/** What went wrong in a session. Nothing is known while it runs. */
export function useFindings({ id, endState, stepCount }: SessionSummary): Findings {
  const source = useSessionSource()
  const { data = nothing } = useQuery({
    // Late steps may change what is found.
    queryKey: ['findings', source.name, id, endState, stepCount],
    queryFn: ({ signal }) => source.readFindings(id, signal),
    enabled: endState !== 'running',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    select: named,
  })
  return data
}

function named(all: Findings): Findings {
  return { findings: all.findings, suspects: namedSuspects(all) }
}
