import {
  diagnoseSession,
  parseRecording,
  readOneFileRecording,
  shortSessionId,
  type Session,
  type SessionSummary,
} from '@playhead/model'
import type { SessionSource } from '../api/session-source.ts'

/** Reads the sessions that are embedded in the page. */
export function createFileSource(sessions: readonly SessionSummary[]): SessionSource {
  const opened = new Map<string, Promise<Session>>()
  const readSession = (sessionId: string) => {
    const known = opened.get(sessionId) ?? open(sessions, sessionId)
    opened.set(sessionId, known)
    return known
  }
  return {
    name: 'file',
    isServed: false,
    openSession: readSession,
    readSession,
    readPayloads: readSession,
    readStep: async (sessionId, stepId) => {
      const { steps } = await readSession(sessionId)
      const step = steps.find((candidate) => candidate.id === stepId)
      if (step === undefined) throw new Error(`The recording has no step ${stepId}.`)
      return { ...step, hasPayload: true }
    },
    readFindings: async (sessionId) => diagnoseSession(await readSession(sessionId)),
    downloadsOf: ({ id }) => [
      {
        id: 'json',
        label: 'Recording',
        hint: 'JSON, for playhead show',
        fileName: `${shortSessionId(id)}.playhead.json`,
        make: async () => JSON.stringify(await readOneFileRecording(document, positionOf(sessions, id))),
      },
    ],
  }
}

async function open(sessions: readonly SessionSummary[], sessionId: string): Promise<Session> {
  const recording = await readOneFileRecording(document, positionOf(sessions, sessionId))
  const parsed = parseRecording(recording)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.session
}

function positionOf(sessions: readonly SessionSummary[], sessionId: string): number {
  return sessions.findIndex(({ id }) => id === sessionId)
}
