import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLoginLink } from '../src/index.ts'
import { PASSWORD } from './locked-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer({
    PLAYHEAD_AUTH: 'on',
    PLAYHEAD_PASSWORD: PASSWORD,
    PLAYHEAD_TRUSTED_PROXIES: '127.0.0.1',
  })
})
afterAll(() => server.stop())

const from = (address: string) => ({ 'x-forwarded-for': address })
const tryPassword = async (password: string, address: string) =>
  (await server.request('/api/login', { json: { password }, headers: from(address) })).status

/** The link's path on this server, whose port is only known once it runs. */
async function newLink(): Promise<string> {
  const link = await createLoginLink({ PLAYHEAD_DATA: server.dataDirectory, PLAYHEAD_URL: server.url })
  if ('problem' in link) throw new Error(link.problem)
  return link.url.slice(server.url.length)
}

const follow = (path: string) => server.request(path, { redirect: 'manual' })

test('who guesses from one address locks out nobody else', async () => {
  const guesses: number[] = []
  for (let guess = 0; guess < 12; guess++) guesses.push(await tryPassword(`guess ${guess}`, '203.0.113.1'))

  expect(guesses).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429, 429, 429, 429])
  expect(await tryPassword(PASSWORD, '203.0.113.1')).toBe(429)
  expect(await tryPassword(PASSWORD, '203.0.113.2')).toBe(200)
})

test('when guesses from everywhere reach the ceiling, the link still logs the owner in, once', async () => {
  for (let guess = 0; guess < 100; guess++) await tryPassword('wrong', `198.51.${guess}.1`)
  expect(await tryPassword(PASSWORD, '192.0.2.1')).toBe(429)

  const path = await newLink()
  const used = await follow(path)
  expect([used.status, used.headers.get('location'), used.headers.get('cache-control')]).toEqual([
    302,
    '/',
    'no-store',
  ])
  const cookie = used.headers.get('set-cookie')!.split(';')[0]!
  expect((await server.request('/api/projects', { headers: { cookie } })).status).toBe(200)

  const again = await follow(path)
  expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
  expect(await again.text()).toContain('playhead login-link')
})

test('of many who follow the same link at once, one gets in', async () => {
  const path = await newLink()
  const statuses = (await Promise.all(Array.from({ length: 10 }, () => follow(path)))).map(
    ({ status }) => status,
  )
  expect(statuses.filter((status) => status === 302)).toHaveLength(1)
})

test('links that are old, invented or lead elsewhere log nobody in', async () => {
  const path = await newLink()
  const [file = ''] = readdirSync(join(server.dataDirectory, 'login-links'))
  const elevenMinutesAgo = Date.now() / 1_000 - 660
  utimesSync(join(server.dataDirectory, 'login-links', file), elevenMinutesAgo, elevenMinutesAgo)
  for (const invented of [path, '/api/login/x', `/api/login/${'a'.repeat(43)}`, '/api/login/..%2f..%2flog'])
    expect((await follow(invented)).status).toBe(401)
})

test('without a server, or without auth, the reason is told', async () => {
  expect(await createLoginLink({ PLAYHEAD_DATA: join(server.dataDirectory, 'none') })).toEqual({
    problem: expect.stringContaining('No server is running with the data folder') as string,
  })
  const open = await startTestServer()
  try {
    expect(await createLoginLink({ PLAYHEAD_DATA: open.dataDirectory })).toEqual({
      problem: expect.stringContaining('no login is needed') as string,
    })
  } finally {
    await open.stop()
  }
})
