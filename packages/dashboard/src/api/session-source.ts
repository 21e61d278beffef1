import { createContext, useContext } from 'react'
import type { Findings, Score, Session, SessionSummary, Step } from '@playhead/model'
import type { ApiBodies, ApiResponses, LiveEvent } from '@playhead/server/api-types'
import type { QueryParameters } from './call-api.ts'
import type { DevSource } from './dev.ts'

/** A file that a session can be saved as, created by the server or by the page. */
export type Download = { id: string; label: string; hint: string; fileName: string } & (
  | { href: string }
  | { make: () => Promise<string> }
)

/** Tags to add to a session, and tags to remove from it. */
export type TagEdit = { add?: string[]; remove?: string[] }

/** A session, and what keeps it from being run again if that is known. */
export type LoadedSession = Session &
  Pick<ApiResponses['GET /api/sessions/{id}'], 'tapeGaps'> & {
    /** The link that it was opened with. */
    share?: ApiResponses['GET /api/shared/session']['share']
  }

/** Where sessions come from: the server, or the HTML file that contains them. */
export type SessionSource = {
  /** Part of the cache keys, so that sources don't mix. */
  name: string
  /** The session as it is shown first: the steps of a long one have no previews (`isSkeleton`). */
  openSession: (sessionId: string, signal: AbortSignal) => Promise<LoadedSession>
  /** The session with the previews of all steps. */
  readSession: (sessionId: string, signal: AbortSignal) => Promise<LoadedSession>
  /** Some steps with previews. Absent if they are always there. */
  readPreviews?: (sessionId: string, stepIds: readonly string[]) => Promise<Step[]>
  readStep: (sessionId: string, stepId: string, signal: AbortSignal) => Promise<Step>
  /** The session with all payloads, to search in them. */
  readPayloads: (sessionId: string, signal: AbortSignal) => Promise<Session>
  /** What went wrong in a session that has ended. */
  readFindings: (sessionId: string, signal: AbortSignal) => Promise<Findings>
  /** Absent if the session can't change. Returns a function that unsubscribes. */
  watch?: (sessionId: string, listener: (event: LiveEvent) => void) => () => void
  /** Absent if tags can't be edited. */
  editTags?: (sessionId: string, edit: TagEdit) => Promise<SessionSummary>
  /** Absent if nobody can give scores. */
  addScore?: (sessionId: string, score: ApiBodies['POST /api/sessions/{id}/scores']) => Promise<Score>
  /** Absent without a server: the newest sessions that match a filter. */
  listSessions?: (parameters: QueryParameters, signal: AbortSignal) => Promise<SessionSummary[]>
  /** Absent without a server: the sessions that ran this one again. */
  readReruns?: (
    sessionId: string,
    signal: AbortSignal,
  ) => Promise<ApiResponses['GET /api/sessions/{id}/reruns']>
  /** Absent without a server. */
  dev?: DevSource
  downloadsOf: (session: SessionSummary) => Download[]
  /** Whether a server serves the page: then there are other pages to link to. */
  isServed: boolean
}

const SourceContext = createContext<SessionSource | undefined>(undefined)

export const SessionSourceProvider = SourceContext.Provider

export function useSessionSource(): SessionSource {
  const source = useContext(SourceContext)
  if (source === undefined) throw new Error('useSessionSource needs a SessionSourceProvider above it.')
  return source
}
