import { RECORDING_VERSION, type Recording, type Session } from '@playhead/model'
import type { SessionPage } from '../client/sessions.ts'
import session from './recorded/session.json' with { type: 'json' }
import sessions from './recorded/sessions.json' with { type: 'json' }

/** Responses of a real server: three sessions, and one of them with its steps. */
export const recordedPage = sessions as SessionPage
export const recordedSession = session as unknown as Session

export const recording: Recording = {
  version: RECORDING_VERSION,
  exportedAt: '2026-11-15T10:00:00.000Z',
  ...recordedSession,
}
