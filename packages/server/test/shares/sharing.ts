import type { Session } from '@playhead/model'
import type { Share } from '../../src/api/schemas/shares.ts'
import { bearer, startLockedServer } from '../locked-server.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import type { TestServer } from '../test-server.ts'

/** Said in the session, and nothing that is measured about it. */
export const said = {
  prompt: 'my-order-4711',
  error: 'charged-twice-4711',
  answer: 'answer-4711',
  attribute: 'attribute-4711',
  user: 'user-4711',
}

export const [shown, other] = [hex(16), hex(16)] as const

export type Created = { share: Share; url: string; token: string }

/** A server with auth, a session to share and another one, and what is done with links. */
export async function startSharing() {
  const { server, cookie, keys } = await startLockedServer()
  const spans = session({
    traceId: shown,
    name: 'support',
    prompt: said.prompt,
    error: said.error,
    user: said.user,
    more: { 'gen_ai.output.messages': said.answer, 'custom.note': said.attribute },
  })
  Object.assign(spans[2]!.attributes!, {
    'gen_ai.tool.call.arguments': JSON.stringify({ order: said.prompt }),
    'gen_ai.tool.call.result': JSON.stringify({ text: said.answer }),
  })
  const sent = [...spans, ...session({ traceId: other, name: 'secret-other' })]
  await server.request('/v1/traces', { json: tracesPayload(sent), headers: bearer(keys.a) })
  return { server, cookie, keys, ...linkTools(server, keys.a!) }
}

function linkTools(server: TestServer, key: string) {
  return {
    async share(json: Record<string, unknown> = {}, id: string = shown): Promise<Created> {
      const response = await server.request(`/api/sessions/${id}/shares`, { json, headers: bearer(key) })
      const created = (await response.json()) as { share: Share; url: string }
      return { ...created, token: new URL(created.url).hash.slice(1) }
    },
    async list(query = ''): Promise<Share[]> {
      const response = await server.request(`/api/shares?${query}`, { headers: bearer(key) })
      return ((await response.json()) as { shares: Share[] }).shares
    },
    revoke: (id: string, headers: Record<string, string> = bearer(key)) =>
      server.request(`/api/shares/${id}`, { method: 'DELETE', headers }),
    open: (token: string, path = '/api/shared/session', headers: Record<string, string> = {}) =>
      server.request(path, { headers: { ...bearer(token), ...headers } }),
    /** The session, as its project reads it. */
    async own(): Promise<Session> {
      const response = await server.request(`/api/sessions/${shown}?payloads=all`, { headers: bearer(key) })
      const { tapeGaps: _, ...read } = (await response.json()) as Session & { tapeGaps?: unknown }
      return read
    },
  }
}

export async function errorOf(response: Response): Promise<[status: number, code: string]> {
  return [response.status, ((await response.json()) as { error: { code: string } }).error.code]
}
