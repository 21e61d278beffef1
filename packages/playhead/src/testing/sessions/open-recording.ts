import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { parseRecording, type Session } from '@playhead/model'

/**
 * A session from a recording: a file of `.playhead/`, of `playhead export`, or of the replay's download.
 *
 * @example
 * expect(await openRecording("fixtures/refund.json")).toHaveCalled("issue_refund")
 */
export async function openRecording(path: string | URL): Promise<Session> {
  const text = await readFile(path, 'utf8')
  const parsed = parseRecording(readJson(text, path))
  if ('problem' in parsed) throw new Error(`${String(path)}: ${parsed.problem}`)
  const { session, steps } = parsed.session
  return { session: { ...session, url: session.url ?? pathToFileURL(String(path)).href }, steps }
}

function readJson(text: string, path: string | URL): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${String(path)} is not a recording: it is no JSON.`, { cause: error })
  }
}
