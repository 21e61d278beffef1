import { shortSessionId, type Recording, type SessionSummary } from '@playhead/model'
import { fetchJson } from '../api/fetch-json.ts'

/** Saves recordings: one as a recording file, several as one file with a recording a line. */
export async function exportSessions(
  sessions: readonly SessionSummary[],
  onProgress: (done: number) => void,
): Promise<void> {
  const lines: string[] = []
  for (const { id } of sessions) {
    onProgress(lines.length + 1)
    lines.push(JSON.stringify(await fetchJson<Recording>(`/api/sessions/${id}/recording`)))
  }
  const [only] = sessions
  if (lines.length === 1 && only !== undefined)
    return saveFile(`${shortSessionId(only.id)}.playhead.json`, lines, 'application/json')
  saveFile(`${lines.length}-sessions.playhead.ndjson`, lines, 'application/x-ndjson')
}

function saveFile(name: string, lines: readonly string[], type: string): void {
  const url = URL.createObjectURL(new Blob([lines.join('\n'), '\n'], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the file after the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
