import type { SessionSummary } from '@playhead/model'
import type { LiveEvent } from '@playhead/server/api-types'
import { apiPath, ApiError } from './call-api.ts'
import { checkConnection } from './connection.ts'
import { handleLogout } from './query-client.ts'

/** Events are batched for this long. */
const BATCH_MS = 100

type Watcher = {
  /** The feed is open, or open again after events were missed. */
  onOpen: () => void
  onChange: (changed: readonly SessionSummary[]) => void
}

/** Reports sessions of a project that start, change or end. Returns a function that unsubscribes. */
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
    }, BATCH_MS)
  })
  source.addEventListener('error', () => {
    // The browser reconnects after a broken connection, but not after a rejected one.
    if (source.readyState === EventSource.CLOSED)
      handleLogout(new ApiError(401, 'CLOSED', 'The live feed was rejected.'))
    else void checkConnection()
  })
  return () => {
    source.close()
    clearTimeout(timer)
  }
}
