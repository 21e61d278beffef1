import type { Session } from '@playhead/model'

/** Whatever a session can be asked through: the live one of a test, a recording, or what the server answered. */
export type SessionSubject = Session | { toJSON(): Session }

/** The session itself, as it is at this moment. */
export function readSubject(subject: SessionSubject): Session {
  const session = isLive(subject) ? subject.toJSON() : subject
  if (!isSession(session))
    throw new TypeError(
      'This is not a session. Give the `session` of the test, what getSession() returns, a recording (openRecording) or a session of the server (fetchSession).',
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
