import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { parseRecordingText, type Session } from '@playhead/model'

/**
 * Reads a session from a recording: a file in `.playhead/`, from `playhead export`, or downloaded from the replay.
 *
 * @example
 * expect(await openRecording("fixtures/refund.json")).toHaveCalled("issue_refund")
 */
export async function openRecording(path: string | URL): Promise<Session> {
  const parsed = parseRecordingText(await readFile(path, 'utf8'))
  if ('problem' in parsed) throw new Error(`${String(path)} is ${parsed.problem}`)
  const { session, steps } = parsed.session
  return { session: { ...session, url: session.url ?? pathToFileURL(String(path)).href }, steps }
}
