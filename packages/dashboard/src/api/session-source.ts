import { createContext, useContext } from 'react'
import type { Session, SessionSummary, Step } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'

/** A file that a session can be saved as, created by the server or by the page. */
export type Download = { id: string; label: string; hint: string; fileName: string } & (
  | { href: string }
  | { make: () => Promise<string> }
)

/** Tags to add to a session, and tags to remove from it. */
export type TagEdit = { add?: string[]; remove?: string[] }

/** Where sessions come from: the server, or the HTML file that contains them. */
export type SessionSource = {
  /** Part of the cache keys, so that sources don't mix. */
  name: string
  readSession: (sessionId: string, signal: AbortSignal) => Promise<Session>
  readStep: (sessionId: string, stepId: string, signal: AbortSignal) => Promise<Step>
  /** The session with all payloads, to search in them. */
  readPayloads: (sessionId: string, signal: AbortSignal) => Promise<Session>
  /** Absent if the session can't change. Returns a function that unsubscribes. */
  watch?: (sessionId: string, listener: (event: LiveEvent) => void) => () => void
  /** Absent if tags can't be edited. */
  editTags?: (sessionId: string, edit: TagEdit) => Promise<SessionSummary>
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
