import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import {
  fail,
  isSession,
  parseRecordingText,
  requireOptions,
  requireText,
  type Session,
} from '@playhead/model'

/**
 * Reads a session from a recording: a file in `.playhead/`, from `playhead export`, or downloaded from the replay.
 *
 * @example
 * expect(await openRecording("fixtures/refund.json")).toHaveCalled("issue_refund")
 */
export async function openRecording(path: string | URL): Promise<Session> {
  if (!(path instanceof URL) && typeof path !== 'string')
    fail('The recording', 'must be a path or a file: URL', path)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`${String(path)} can't be read: ${messageOf(error)}.`, { cause: error })
  })
  const parsed = parseRecordingText(text)
  if ('problem' in parsed) throw new Error(`${String(path)} is ${parsed.problem}.`)
  const { session, steps } = parsed.session
  const { href } = path instanceof URL ? path : pathToFileURL(path)
  return { session: { ...session, url: session.url ?? href }, steps }
}

export type FetchOptions = {
  /** The server's URL. Defaults to `PLAYHEAD_ENDPOINT`, then http://localhost:4318. */
  endpoint?: string | undefined
  /** A project's API key. Defaults to `PLAYHEAD_API_KEY`. */
  apiKey?: string | undefined
}

const FETCH_TIMEOUT_MS = 30_000

/**
 * Fetches a session from the server by its id or the URL of its replay.
 *
 * @example
 * expect(await fetchSession("s_1a2b3c4d")).toHaveNoErrors()
 */
export async function fetchSession(idOrUrl: string, options?: FetchOptions): Promise<Session> {
  const { origin, id } = readAddress(requireText(idOrUrl, 'The session'))
  const { endpoint: given, apiKey } = requireOptions(options)
  const endpoint = given ?? origin ?? process.env.PLAYHEAD_ENDPOINT ?? 'http://localhost:4318'
  requireText(endpoint, 'The option endpoint')
  if (apiKey !== undefined) requireText(apiKey, 'The option apiKey')
  const path = `/api/sessions/${encodeURIComponent(id)}?payloads=all`
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS)
  const session = await fetchJson<Session>(path, { endpoint, apiKey, signal })
  if (!isSession(session)) throw new Error(`${endpoint} did not respond with a session to ${path}.`)
  return session
}

function readAddress(idOrUrl: string): { origin?: string; id: string } {
  if (!/^https?:/.test(idOrUrl) && idOrUrl !== '') return { id: idOrUrl.toWellFormed() }
  const url = URL.parse(idOrUrl)
  const id = /\/sessions\/([^/?#]+)/.exec(url?.pathname ?? '')?.[1]
  if (url === null || id === undefined)
    return fail(
      'The session',
      "must be its id or its replay's URL, like https://…/sessions/1a2b3c4d",
      idOrUrl,
    )
  return { origin: url.origin, id }
}

/** Gets JSON from the server's API, with the API key if there is one. */
export async function fetchJson<Body>(
  path: string,
  { endpoint, apiKey, signal }: FetchOptions & { endpoint: string; signal?: AbortSignal },
): Promise<Body> {
  const key = apiKey ?? (process.env.PLAYHEAD_API_KEY || process.env.AGENTOPS_API_KEY)
  try {
    const response = await fetch(`${endpoint.replace(/\/+$/, '')}${path}`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      ...(signal !== undefined && { signal }),
    })
    if (response.ok) return (await response.json()) as Body
    await response.body?.cancel()
    throw new Error(`it responded with ${response.status}`)
  } catch (error) {
    throw new Error(`Can't get ${path} from ${endpoint}: ${messageOf(error)}.`, { cause: error })
  }
}

/** Where `fetch` fails, the cause says why. */
function messageOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message !== '' ? `${message}, ${cause.message}` : message
}
