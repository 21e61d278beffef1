import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { personId } from '../src/access/people.ts'
import { PASSWORD } from './locked-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

type Account = { sub: string; email?: string; email_verified?: boolean; name?: string }

const alice: Account = { sub: 'alice', email: 'alice@example.com', email_verified: true, name: 'Alice' }
const bob: Account = { sub: 'bob', email: 'bob@example.com', email_verified: true, name: 'Bob' }

let server: TestServer
let provider: ChildProcess
let providerPort: number

beforeAll(async () => {
  providerPort = await freePort()
  server = await startTestServer({
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: PASSWORD,
    PLAYHEAD_OIDC_ISSUER: `http://127.0.0.1:${providerPort}`,
    PLAYHEAD_OIDC_CLIENT_ID: 'playhead',
    PLAYHEAD_OIDC_CLIENT_SECRET: 'a secret of the client',
    PLAYHEAD_OIDC_ADMINS: 'ALICE@example.com',
  })
  await startProvider()
})
afterAll(async () => {
  provider.kill()
  await server.stop()
})

async function startProvider(): Promise<void> {
  const callbacks = JSON.stringify([`${server.url}/api/login/oidc/callback`])
  provider = fork(new URL('./oidc-provider-main.mjs', import.meta.url), [String(providerPort), callbacks], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(provider, 'message')
}

async function setProvider(message: {
  account?: Account
  changeClaims?: Record<string, unknown>
}): Promise<void> {
  provider.send(message)
  await once(provider, 'message')
}

/** A browser that follows redirects between the two sites and keeps the cookies of each. */
class Browser {
  readonly cookies = new Map<string, Map<string, string>>()

  async get(url: string): Promise<Response> {
    const { host } = new URL(url)
    const jar = this.cookies.get(host) ?? new Map<string, string>()
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    this.cookies.set(host, jar)
    return response
  }

  /** Follows redirects until a page, or until `isLast` says so. */
  async follow(
    url: string,
    isLast: (url: string) => boolean = () => false,
  ): Promise<{ url: string; response: Response }> {
    for (let next = url, hops = 0; hops < 15; hops++) {
      if (isLast(next)) return { url: next, response: new Response() }
      const response = await this.get(next)
      const location = response.headers.get('location')
      if (location === null) return { url: next, response }
      next = new URL(location, next).href
    }
    throw new Error(`Too many redirects from ${url}`)
  }

  loginCookie(): string {
    return `playhead_login=${this.cookies.get(new URL(server.url).host)?.get('playhead_login')}`
  }
}

async function logIn(
  account: Account,
  browser = new Browser(),
): Promise<{ browser: Browser; status: number; text: string; url: string }> {
  await setProvider({ account })
  const { response, url } = await browser.follow(`${server.url}/api/login/oidc?back=/issues`)
  return { browser, status: response.status, text: await response.text(), url }
}

async function me(browser: Browser) {
  return (await server.request('/api/me', { headers: { cookie: browser.loginCookie() } })).json()
}

test('a person logs in at the provider and is who the provider says; whom the settings name is an admin', async () => {
  const { browser, url } = await logIn(alice)

  expect(url).toBe(`${server.url}/issues`)
  expect(await me(browser)).toMatchObject({
    kind: 'person',
    hasOidc: true,
    person: { name: 'Alice', email: 'alice@example.com', roles: { '*': 'admin' } },
  })
  const audit = await server.request('/api/audit?action=login', {
    headers: { cookie: browser.loginCookie() },
  })
  expect(await audit.json()).toMatchObject({
    entries: [{ action: 'login.oidc', caller: { kind: 'person', name: 'Alice (alice@example.com)' } }],
  })
})

test('an address that the provider has not verified makes nobody an admin', async () => {
  const { browser } = await logIn({ ...alice, sub: 'mallory', email_verified: false })
  expect(await me(browser)).toMatchObject({ person: { roles: {} } })
})

test('without a role, a person sees no project; an admin gives roles and takes them away, and disabling ends a login', async () => {
  const admin = { cookie: (await logIn(alice)).browser.loginCookie() }
  const { browser } = await logIn(bob)
  const headers = { cookie: browser.loginCookie() }
  const statusOf = async (path: string) => (await server.request(path, { headers })).status
  expect(await (await server.request('/api/projects', { headers })).json()).toEqual({ projects: [] })
  expect([await statusOf('/api/sessions'), await statusOf('/api/people')]).toEqual([404, 403])

  const id = personId(`http://127.0.0.1:${providerPort}`, 'bob')
  const change = (json: object) =>
    server.request(`/api/people/${id}`, { method: 'PATCH', json, headers: { ...admin, origin: server.url } })
  expect((await change({ roles: { nowhere: 'viewer' } })).status).toBe(400)
  expect(await (await change({ roles: { default: 'viewer' } })).json()).toMatchObject({
    roles: { default: 'viewer' },
  })
  expect([await statusOf('/api/sessions'), await statusOf('/api/keys')]).toEqual([200, 403])
  await server.services.gate.people!.reload()
  expect(await statusOf('/api/sessions')).toBe(200)

  await change({ isDisabled: true })
  expect(await statusOf('/api/sessions')).toBe(401)
  const again = await logIn(bob)
  expect(again).toMatchObject({
    status: 403,
    text: expect.stringContaining('An admin has disabled your access'),
  })
})

test.each([
  ['for another audience', { aud: 'another client' }],
  ['that has expired', { exp: Math.floor(Date.now() / 1_000) - 3_600 }],
  ['of another issuer', { iss: 'http://127.0.0.1:1' }],
  ['with another nonce', { nonce: 'stolen' }],
  ['without a subject', { sub: '' }],
])('an ID token %s is refused', async (_, changeClaims) => {
  await setProvider({ account: alice, changeClaims })
  const browser = new Browser()
  const { response } = await browser.follow(`${server.url}/api/login/oidc`)
  expect(response.status).toBe(401)
  expect(await response.text()).toContain('The login was refused')
  expect(browser.loginCookie()).toBe('playhead_login=undefined')
  await setProvider({})
})

test('a response with another state, in another browser, or used twice is refused', async () => {
  await setProvider({ account: alice })
  const isCallback = (url: string) => url.startsWith(`${server.url}/api/login/oidc/callback`)
  const victim = new Browser()
  const { url } = await victim.follow(`${server.url}/api/login/oidc`, isCallback)

  const elsewhere = await new Browser().follow(url)
  expect(elsewhere.response.status).toBe(401)
  expect(await elsewhere.response.text()).toContain('was not started in this browser')

  const forged = new URL(url)
  forged.searchParams.set('state', 'forged')
  expect((await victim.get(forged.href)).status).toBe(401)

  const other = new Browser()
  const begun = await other.follow(`${server.url}/api/login/oidc`, isCallback)
  const pending = new Map(other.cookies.get(new URL(server.url).host))
  expect((await other.get(begun.url)).status).toBe(302)
  other.cookies.set(new URL(server.url).host, pending)
  expect((await other.get(begun.url)).status).toBe(401)
})

test('an address outside of this server is no place to go back to', async () => {
  await setProvider({ account: alice })
  for (const back of ['https://evil.example', '//evil.example', '/\\evil.example']) {
    const { url } = await new Browser().follow(
      `${server.url}/api/login/oidc?back=${encodeURIComponent(back)}`,
    )
    expect(new URL(url).host).toBe(new URL(server.url).host)
  }
})

test('a provider that is gone is named, and the password still works; with rotated keys it works again', async () => {
  provider.kill()
  await once(provider, 'exit')
  // What was discovered is remembered for ten seconds; the token endpoint is gone at once.
  const gone = await new Browser().follow(`${server.url}/api/login/oidc`, (url) =>
    url.includes(`:${providerPort}/`),
  )
  expect([200, 503]).toContain(gone.response.status)
  expect((await server.request('/api/login', { json: { password: PASSWORD } })).status).toBe(200)

  await startProvider()
  await expect
    .poll(async () => me((await logIn(alice)).browser), { timeout: 15_000, interval: 1_000 })
    .toMatchObject({ person: { name: 'Alice' } })
})

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}
