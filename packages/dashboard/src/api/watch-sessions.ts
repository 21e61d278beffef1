import type { SessionSummary } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'
import { apiPath, ApiError } from './call-api.ts'
import { checkConnection } from './connection.ts'
import { noticeLogout } from './query-client.ts'

/** Events that come together are told together. */
const GATHER_MS = 100

type Watcher = {
  /** The feed begins, or begins again after events were missed. */
  onOpen: () => void
  onChange: (changed: readonly SessionSummary[]) => void
}

/** Tells which sessions of a project begin, change and end. Returns how to stop. */
export function watchSessions(project: string, { onOpen, onChange }: Watcher): () => void {
  const source = new EventSource(apiPath('/api/live', { project, only: 'session' }))
  const changed = new Map<string, SessionSummary>()
  let timer: ReturnType<typeof setTimeout> | undefined
  source.addEventListener('open', onOpen)
  source.addEventListener('reset', onOpen)
  source.addEventListener('session', (event: MessageEvent<string>) => {
    const { session } = JSON.parse(event.data) as Omit<Extract<LiveEvent, { type: 'session' }>, 'type'>
    changed.set(session.id, session)
    timer ??= setTimeout(() => {
      timer = undefined
      const sessions = [...changed.values()]
      changed.clear()
      onChange(sessions)
    }, GATHER_MS)
  })
  source.addEventListener('error', () => {
    // A refused connection is closed for good; one that broke is opened again by the browser.
    if (source.readyState === EventSource.CLOSED)
      noticeLogout(new ApiError(401, 'CLOSED', 'The live feed was refused.'))
    else void checkConnection()
  })
  return () => {
    source.close()
    clearTimeout(timer)
  }
}
