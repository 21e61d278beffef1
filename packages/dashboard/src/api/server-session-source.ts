import { shortSessionId, type Session, type SessionSummary, type Step } from '@playhead/model'
import { inPageProject } from './api-path.ts'
import { checkConnection } from './connection.ts'
import { fetchJson } from './fetch-json.ts'
import type { Download, SessionEvent, SessionSource } from './session-source.ts'

/** Sessions of the server that served the page. */
export const serverSessionSource: SessionSource = {
  name: 'server',
  isServed: true,
  readSession: (sessionId, signal) => fetchJson<Session>(pathOf(sessionId), { signal }),
  readStep: (sessionId, stepId, signal) =>
    fetchJson<Step>(`${pathOf(sessionId)}/steps/${encodeURIComponent(stepId)}`, { signal }),
  readPayloads: (sessionId, signal) => fetchJson<Session>(`${pathOf(sessionId)}?payloads=all`, { signal }),
  watch,
  downloadsOf,
}

function pathOf(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`
}

function watch(sessionId: string, listener: (event: SessionEvent) => void): () => void {
  const events = new EventSource(inPageProject(`${pathOf(sessionId)}/live`, location.search))
  const listen = (type: SessionEvent['type']) =>
    events.addEventListener(type, (event: MessageEvent<string>) => {
      const data = JSON.parse(event.data) as object
      listener({ ...data, type } as SessionEvent)
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
      label: 'Spans as they arrived',
      hint: 'OTLP/JSON',
      fileName: `${name}.otlp.json`,
      href: href('recording.otlp'),
    },
  ]
}
