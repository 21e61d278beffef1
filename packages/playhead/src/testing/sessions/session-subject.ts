import type { Session } from '@playhead/model'

/** What matchers accept: the live session of a test, a recording, or a session from the server. */
export type SessionSubject = Session | { toJSON(): Session }

/** Returns the session in its current state. */
export function readSubject(subject: SessionSubject): Session {
  const session = isLive(subject) ? subject.toJSON() : subject
  if (!isSession(session))
    throw new TypeError(
      'This is not a session. Pass the `session` of the test, the result of getSession(), a recording (openRecording) or a session from the server (fetchSession).',
    )
  return session
}

function isLive(subject: unknown): subject is { toJSON(): Session } {
  return typeof (subject as { toJSON?: unknown } | null | undefined)?.toJSON === 'function'
}

function isSession(value: unknown): value is Session {
  const { session, steps } = (value ?? {}) as Partial<Session>
  return typeof session?.id === 'string' && Array.isArray(steps)
}
