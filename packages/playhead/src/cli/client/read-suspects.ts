import { diagnoseSession, namedSuspects, type Findings, type Session } from '@playhead/model'
import { Api } from './api.ts'
import { isRecordingFile } from './read-session.ts'
import type { Settings } from './settings.ts'

/** What went wrong in a session, in sentences. The server knows more than the session: others of the same name. */
export async function readSuspects(session: Session, source: string, settings: Settings): Promise<string[]> {
  const { id, endState } = session.session
  if (endState === 'running') return []
  const isLocal = source === '-' || isRecordingFile(source)
  const found = isLocal ? undefined : await fetchFindings(id, settings)
  return namedSuspects(found ?? diagnoseSession(session)).map(({ sentence }) => sentence)
}

/** Undefined for servers that do not have findings. */
async function fetchFindings(id: string, settings: Settings): Promise<Findings | undefined> {
  try {
    const api = await Api.connect(settings, 'read')
    return await api.json<Findings>(`/api/sessions/${id}/findings`)
  } catch {
    return undefined
  }
}
