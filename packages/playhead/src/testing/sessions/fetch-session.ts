import type { Session } from '@playhead/model'

export type FetchOptions = {
  /** The server; `PLAYHEAD_ENDPOINT`, else http://localhost:4318. */
  endpoint?: string | undefined
  /** The key of a project; `PLAYHEAD_API_KEY`. */
  apiKey?: string | undefined
}

/**
 * A session from the server, by its id or the address of its replay.
 *
 * @example
 * expect(await fetchSession("s_1a2b3c4d")).toHaveNoErrors()
 */
export async function fetchSession(idOrUrl: string, options: FetchOptions = {}): Promise<Session> {
  const { environment, id, endpoint } = locate(idOrUrl, options)
  const apiKey = options.apiKey ?? (environment.PLAYHEAD_API_KEY || environment.AGENTOPS_API_KEY)
  const response = await fetch(`${endpoint}/api/sessions/${encodeURIComponent(id)}?payloads=all`, {
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
  })
  if (!response.ok) throw new Error(`${endpoint} has no session ${id}: it answered ${response.status}.`)
  return (await response.json()) as Session
}

function locate(idOrUrl: string, { endpoint }: FetchOptions) {
  const environment = process.env
  const url = /^https?:/.test(idOrUrl) ? new URL(idOrUrl) : undefined
  const given = endpoint ?? url?.origin ?? environment.PLAYHEAD_ENDPOINT ?? 'http://localhost:4318'
  const id = url === undefined ? idOrUrl : (/\/sessions\/([^/?#]+)/.exec(url.pathname)?.[1] ?? '')
  return { environment, id, endpoint: given.replace(/\/+$/, '') }
}
