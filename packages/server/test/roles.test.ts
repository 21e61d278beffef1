import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Role } from '../src/api/schemas/settings.ts'
import { PASSWORD } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** Who may use a route: anyone; who may read, edit or manage the project; or an admin of the whole server. */
type Needs = 'anyone' | 'read' | 'edit' | 'admin' | 'server'

const routes: Record<string, Needs> = {
  'GET /api/me': 'anyone',
  'POST /api/login': 'anyone',
  'POST /api/logout': 'anyone',
  // Lists the projects that the caller has a role in.
  'GET /api/projects': 'anyone',
  // With the token of a link, whoever asks.
  'GET /api/shared/session': 'anyone',
  'GET /api/shared/session/steps': 'anyone',
  'GET /api/shared/session/steps/{stepId}': 'anyone',
  'GET /api/shared/session/findings': 'anyone',
  'GET /api/sessions/{id}/live': 'read',
  'POST /api/query': 'read',
  'POST /api/monitors/preview': 'read',
  // Members judge sessions, and a score is sent like a span.
  'POST /api/sessions/{id}/scores': 'edit',
  'POST /api/sessions/{id}/shares': 'edit',
  'GET /api/shares': 'edit',
  'DELETE /api/shares/{id}': 'edit',
  'POST /api/monitors': 'edit',
  'PATCH /api/monitors/{id}': 'edit',
  'DELETE /api/monitors/{id}': 'edit',
  'PATCH /api/sessions/{id}': 'edit',
  'PATCH /api/issues/{id}': 'edit',
  'POST /api/dev/pair': 'edit',
  'POST /api/dev/jobs': 'edit',
  'GET /api/dev': 'edit',
  'GET /api/dev/runner': 'edit',
  'DELETE /api/dev/jobs/{id}': 'edit',
  'POST /api/dev/jobs/{id}/events': 'edit',
  'POST /api/sessions/delete': 'admin',
  'DELETE /api/sessions/{id}': 'admin',
  'PATCH /api/projects/{project}': 'admin',
  // An admin of one project sees what concerns it.
  'GET /api/audit': 'admin',
  'GET /api/keys': 'admin',
  'POST /api/keys': 'admin',
  'DELETE /api/keys/{id}': 'admin',
  'POST /api/destinations': 'admin',
  'PATCH /api/destinations/{id}': 'admin',
  'DELETE /api/destinations/{id}': 'admin',
  'POST /api/destinations/{id}/test': 'admin',
  'GET /api/deliveries': 'admin',
  'POST /api/demo': 'admin',
  'POST /api/reprice': 'admin',
  'POST /api/rederive': 'admin',
  'POST /api/projects': 'server',
  'GET /api/people': 'server',
  'PATCH /api/people/{id}': 'server',
  'GET /api/logins': 'server',
  'DELETE /api/logins/{id}': 'server',
  'POST /api/logins/end-others': 'server',
  'GET /api/health': 'server',
  'GET /api/backup': 'server',
  'POST /api/restore': 'server',
  'GET /api/restore': 'server',
  'POST /api/restore/undo': 'server',
}

const allowed: Record<string, readonly Needs[]> = {
  nobody: ['anyone'],
  viewer: ['anyone', 'read'],
  member: ['anyone', 'read', 'edit'],
  admin: ['anyone', 'read', 'edit', 'admin'],
  'admin of all projects': ['anyone', 'read', 'edit', 'admin', 'server'],
}

let server: TestServer
const traceId = hex(16)
const spanId = hex(8)

beforeAll(async () => {
  server = await startTestServer({
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: PASSWORD,
    PLAYHEAD_OIDC_ISSUER: 'https://login.example',
    PLAYHEAD_OIDC_CLIENT_ID: 'playhead',
  })
  const { registry } = server.services
  const { secret } = await registry.createKey({ project: 'default', name: 'sender', scopes: ['ingest'] })
  await server.request('/v1/traces', {
    json: tracesPayload([{ traceId, spanId, endMs: 1_700_000_000_001 }]),
    headers: { authorization: `Bearer ${secret}` },
  })
})
afterAll(() => server.stop())

/** The cookie of a person whom the provider vouched for. */
async function cookieOf(name: string): Promise<string> {
  const { people, logins } = server.services.gate
  const identity = { issuer: 'https://login.example', subject: name, email: '', isEmailVerified: false, name }
  const { id } = await people!.welcome(identity)
  const roles: Record<string, Role> =
    name === 'nobody' ? {} : name === 'admin of all projects' ? { '*': 'admin' } : { default: name as Role }
  await people!.update(id, { roles })
  const { cookie } = await logins!.start({ address: '', device: 'test', personId: id })
  return `playhead_login=${cookie}`
}

type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema?: { enum?: string[] } }[]
}

async function operations(): Promise<{ route: string; needs: Needs; url: string; method: string }[]> {
  const document = (await (await server.request('/api/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([name, { parameters = [] }]) => {
      const method = name.toUpperCase()
      const route = `${method} ${template}`
      const query = parameters
        .filter(({ in: place, required, schema }) => place === 'query' && (required || schema?.enum))
        .map((parameter) => `${parameter.name}=${parameter.schema?.enum?.[0] ?? 1}`)
      const path = template
        .replace('{id}', traceId)
        .replace('{stepId}', spanId)
        .replace('{project}', 'default')
      // A route that only reads needs no entry; everything else must be named above.
      const needs = routes[route] ?? (method === 'GET' ? 'read' : undefined)
      if (needs === undefined) throw new Error(`Who may use ${route}? Add it to the list.`)
      return { route, needs, url: `${path}?${query.join('&')}`, method }
    }),
  )
}

/** Running these as someone who may would change the store for the others, or take long. */
const notRun = new Set([
  'POST /api/logout',
  'POST /api/demo',
  'DELETE /api/sessions/{id}',
  'POST /api/logins/end-others',
])

test.each(Object.keys(allowed))(
  '%s: every route of the OpenAPI document is open or closed as the role says',
  async (name) => {
    const cookie = await cookieOf(name)
    const wrong: string[] = []
    for (const { route, needs, url, method } of await operations()) {
      // Its parameters are checked first, so that everybody gets the same answer to this request.
      if (route === 'GET /api/dev/runner') continue
      const isAllowed = allowed[name]!.includes(needs)
      if (isAllowed && notRun.has(route)) continue
      const controller = new AbortController()
      const response = await server.request(url, {
        method,
        headers: { cookie, origin: server.url, 'content-type': 'application/json' },
        signal: controller.signal,
        ...(['POST', 'PATCH', 'PUT'].includes(method) && { body: '{}' }),
      })
      const isStream = response.headers.get('content-type')?.includes('event-stream') === true
      const text = isStream ? '' : await response.text()
      controller.abort()
      const isRefused =
        response.status === 403 || (response.status === 404 && text.includes('you have no role in it'))
      if (isRefused === isAllowed && !isWrongPassword(route, response.status))
        wrong.push(`${route} (${needs}): ${response.status} ${text.slice(0, 150)}`)
    }
    expect(wrong).toEqual([])
  },
)

function isWrongPassword(route: string, status: number): boolean {
  return route === 'POST /api/login' && status === 401
}
