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

export type FetchOptions = {
  /** The server's URL. Defaults to `PLAYHEAD_ENDPOINT`, then http://localhost:4318. */
  endpoint?: string | undefined
  /** A project's API key. Defaults to `PLAYHEAD_API_KEY`. */
  apiKey?: string | undefined
}

/**
 * Fetches a session from the server by its id or the URL of its replay.
 *
 * @example
 * expect(await fetchSession("s_1a2b3c4d")).toHaveNoErrors()
 */
export async function fetchSession(idOrUrl: string, options: FetchOptions = {}): Promise<Session> {
  const url = /^https?:/.test(idOrUrl) ? new URL(idOrUrl) : undefined
  const id = url === undefined ? idOrUrl : (/\/sessions\/([^/?#]+)/.exec(url.pathname)?.[1] ?? '')
  const endpoint = options.endpoint ?? url?.origin ?? process.env.PLAYHEAD_ENDPOINT ?? 'http://localhost:4318'
  const path = `/api/sessions/${encodeURIComponent(id)}?payloads=all`
  return fetchJson<Session>(path, { ...options, endpoint })
}

/** Gets JSON from the server's API, with the API key if there is one. */
export async function fetchJson<Body>(
  path: string,
  { endpoint, apiKey, signal }: FetchOptions & { endpoint: string; signal?: AbortSignal },
): Promise<Body> {
  const key = apiKey ?? (process.env.PLAYHEAD_API_KEY || process.env.AGENTOPS_API_KEY)
  const response = await fetch(`${endpoint.replace(/\/+$/, '')}${path}`, {
    headers: key ? { authorization: `Bearer ${key}` } : {},
    ...(signal !== undefined && { signal }),
  })
  if (!response.ok) throw new Error(`${endpoint} responded with ${response.status} to ${path}.`)
  return (await response.json()) as Body
}
