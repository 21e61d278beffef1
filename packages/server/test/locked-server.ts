import { startTestServer, type TestServer } from './test-server.ts'

export const PASSWORD = 'correct horse battery'

/** A server with auth, the projects a and b, and an admin key for each. */
export async function startLockedServer(): Promise<{
  server: TestServer
  cookie: string
  keys: Record<string, string>
}> {
  const server = await startTestServer({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: PASSWORD })
  const login = await server.request('/api/login', { json: { password: PASSWORD } })
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!
  const keys: Record<string, string> = {}
  for (const project of ['a', 'b']) {
    await server.request('/api/projects', { json: { id: project, name: project }, headers: { cookie } })
    const created = await server.request(`/api/keys?project=${project}`, {
      json: { name: 'all', scopes: ['ingest', 'read', 'admin'] },
      headers: { cookie },
    })
    keys[project] = ((await created.json()) as { secret: string }).secret
  }
  return { server, cookie, keys }
}

export const bearer = (key: string | undefined) => ({ authorization: `Bearer ${key}` })
