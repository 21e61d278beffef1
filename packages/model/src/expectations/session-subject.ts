import { isRecord } from '../json/attribute-value.ts'
import type { Session } from '../session/session.ts'
import { requireSync } from './required-argument.ts'

/** What matchers accept: the live session of a test, a recording, or a session from the server. */
export type SessionSubject = Session | { toJSON(): Session }

/** Returns the session in its current state. */
export function readSubject(subject: SessionSubject): Session {
  const session = isLive(subject) ? requireSync(subject.toJSON(), 'The toJSON of a session') : subject
  if (!isSession(session))
    throw new TypeError(
      'This is not a session. Pass the `session` of the test, the result of getSession(), a recording (openRecording) or a session from the server (fetchSession).',
    )
  return session
}

function isLive(subject: unknown): subject is { toJSON(): Session } {
  return typeof (subject as { toJSON?: unknown } | null | undefined)?.toJSON === 'function'
}

export function isSession(value: unknown): value is Session {
  if (!isRecord(value) || !isRecord(value.session)) return false
  return typeof value.session.id === 'string' && Array.isArray(value.steps) && value.steps.every(isStep)
}

function isStep(step: unknown): boolean {
  if (!isRecord(step) || typeof step.id !== 'string' || typeof step.name !== 'string') return false
  const hasMessage = isRecord(step.error) && typeof step.error.message === 'string'
  return (step.error === undefined || hasMessage) && (step.tool === undefined || isRecord(step.tool))
}
