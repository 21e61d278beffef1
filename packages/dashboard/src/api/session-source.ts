import { createContext, useContext } from 'react'
import type { Session, SessionSummary, Step } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'

/** A file that a session can be saved as: made by the server, or here. */
export type Download = { id: string; label: string; hint: string; fileName: string } & (
  | { href: string }
  | { make: () => Promise<string> }
)

/** Where sessions come from: the server, or the file that the page itself is. */
export type SessionSource = {
  /** Keeps what was read from one source apart from what was read from another. */
  name: string
  readSession: (sessionId: string, signal: AbortSignal) => Promise<Session>
  readStep: (sessionId: string, stepId: string, signal: AbortSignal) => Promise<Step>
  /** The session with every payload, for a search inside them. */
  readPayloads: (sessionId: string, signal: AbortSignal) => Promise<Session>
  /** Absent where nothing more can come. Returns how to stop. */
  watch?: (sessionId: string, listener: (event: LiveEvent) => void) => () => void
  downloadsOf: (session: SessionSummary) => Download[]
  /** The address of a page of ours; undefined where there are no other pages. */
  isServed: boolean
}

const SourceContext = createContext<SessionSource | undefined>(undefined)

export const SessionSourceProvider = SourceContext.Provider

export function useSessionSource(): SessionSource {
  const source = useContext(SourceContext)
  if (source === undefined) throw new Error('There is no SessionSourceProvider above.')
  return source
}
