import { callApi } from './call-api.ts'
import { expandSession } from './expand-session.ts'
import type { SessionSource } from './session-source.ts'

/** Reads the session of a share link. It can be looked at and nothing else. */
export function createSharedSource(shareId: string, token: string): SessionSource {
  const headers = { authorization: `Bearer ${token}` }
  return {
    name: `shared ${shareId} ${token}`,
    isServed: false,
    openSession: async (_id, signal) =>
      expandSession(
        await callApi('GET /api/shared/session', { query: { long: 'skeleton' }, headers, signal }),
      ),
    readSession: (_id, signal) => callApi('GET /api/shared/session', { headers, signal }),
    readPreviews: async (_id, ids) =>
      (await callApi('GET /api/shared/session/steps', { query: { ids: ids.join(',') }, headers })).steps,
    readStep: (_id, stepId, signal) =>
      callApi('GET /api/shared/session/steps/{stepId}', { path: { stepId }, headers, signal }),
    readPayloads: (_id, signal) =>
      callApi('GET /api/shared/session', { query: { payloads: 'all' }, headers, signal }),
    readFindings: (_id, signal) => callApi('GET /api/shared/session/findings', { headers, signal }),
    downloadsOf: () => [],
  }
}
