import { shortSessionId, type SessionSummary } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'
import { inPageProject, callApi } from './call-api.ts'
import { checkConnection } from './connection.ts'
import { serverDevSource } from './dev.ts'
import { expandSession } from './expand-session.ts'
import type { Download, SessionSource } from './session-source.ts'

/** Reads sessions from the server. */
export const serverSessionSource: SessionSource = {
  name: 'server',
  isServed: true,
  openSession: async (id, signal) =>
    expandSession(
      await callApi('GET /api/sessions/{id}', { path: { id }, query: { long: 'skeleton' }, signal }),
    ),
  readSession: (id, signal) => callApi('GET /api/sessions/{id}', { path: { id }, signal }),
  readPreviews: async (id, ids) =>
    (await callApi('GET /api/sessions/{id}/steps', { path: { id }, query: { ids: ids.join(',') } })).steps,
  readStep: (id, stepId, signal) =>
    callApi('GET /api/sessions/{id}/steps/{stepId}', { path: { id, stepId }, signal }),
  readPayloads: (id, signal) =>
    callApi('GET /api/sessions/{id}', { path: { id }, query: { payloads: 'all' }, signal }),
  readFindings: (id, signal) => callApi('GET /api/sessions/{id}/findings', { path: { id }, signal }),
  watch,
  editTags: (id, tags) => callApi('PATCH /api/sessions/{id}', { path: { id }, body: { tags } }),
  addScore: (id, body) => callApi('POST /api/sessions/{id}/scores', { path: { id }, body }),
  listSessions: async (query, signal) =>
    (await callApi('GET /api/sessions', { query: { limit: 100, ...query }, signal })).sessions,
  readReruns: (id, signal) => callApi('GET /api/sessions/{id}/reruns', { path: { id }, signal }),
  dev: serverDevSource,
  downloadsOf,
}

function pathOf(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`
}

function watch(sessionId: string, listener: (event: LiveEvent) => void): () => void {
  const events = new EventSource(inPageProject(`${pathOf(sessionId)}/live`, location.search))
  const listen = (type: LiveEvent['type']) =>
    events.addEventListener(type, (event: MessageEvent<string>) => {
      const data = JSON.parse(event.data) as object
      listener({ ...data, type } as LiveEvent)
    })
  listen('step')
  listen('session')
  listen('reset')
  events.addEventListener('error', () => void checkConnection())
  return () => events.close()
}

function downloadsOf({ id }: SessionSummary): Download[] {
  const name = shortSessionId(id)
  const href = (end: string) => inPageProject(`${pathOf(id)}/${end}`, location.search)
  return [
    {
      id: 'html',
      label: 'Replay as one file',
      hint: 'HTML, opens from disk',
      fileName: `${name}.html`,
      href: href('recording.html'),
    },
    {
      id: 'json',
      label: 'Recording',
      hint: 'JSON, for playhead show',
      fileName: `${name}.playhead.json`,
      href: href('recording'),
    },
    {
      id: 'otlp',
      label: 'Original spans',
      hint: 'OTLP/JSON',
      fileName: `${name}.otlp.json`,
      href: href('recording.otlp'),
    },
  ]
}

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
