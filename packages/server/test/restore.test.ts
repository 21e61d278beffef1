import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '@playhead/model'
import { hashSecret } from '../src/access/secrets.ts'
import type { RestorePlan } from '../src/api/schemas/restore.ts'
import { bearer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** Restores backups of one server, `source`, into another. */
let source: TestServer
let target: TestServer
const secret = 'ph_a-key-of-the-source'
const shared = hex(16)
const folder = { PLAYHEAD_DATA: await mkdtemp(join(tmpdir(), 'playhead-restore-')) }

beforeAll(async () => {
  ;[source, target] = await Promise.all([startTestServer(), startTestServer(folder)])
  await source.services.registry.createProject({ id: 'shop', name: 'Shop' })
  await source.services.registry.updateProject('default', { name: 'From the source', retentionDays: 30 })
  await insert(source, 'keys', [key({ id: 'source-key', hash: hashSecret(secret) })])
  await source.postTraces(tracesPayload(session({ traceId: shared, name: 'shared' }).slice(0, 2)))
  await source.postTraces(tracesPayload(session({ name: 'only there' })))
  await source.services.objects.keep('shop', Buffer.from('an object'))
  await source.request('/api/monitors', {
    json: { name: 'Silence', condition: { kind: 'silence', windowMs: 3_600_000 } },
  })
  await source.request('/api/destinations', {
    json: { kind: 'slack', name: 'Team', url: 'https://hooks.example/very-secret' },
  })
})
afterAll(async () => {
  await Promise.all([source.stop(), target.stop()])
  await rm(folder.PLAYHEAD_DATA, { recursive: true })
})

const key = (given: object) => ({
  project: 'default',
  name: 'ci',
  hint: 'ph_',
  scopes: ['ingest', 'admin'],
  created_at: '2026-01-01',
  version: 5,
  ...given,
})

const insert = (server: TestServer, table: string, values: object[]) =>
  server.services.store.client.insert({ table, format: 'JSONEachRow', values })

async function backupOf(server: TestServer): Promise<ArrayBuffer> {
  return (await server.request('/api/backup')).arrayBuffer()
}

async function restore(
  server: TestServer,
  body: ArrayBuffer,
  query = '',
): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/x-tar' }
  const response = await server.request(`/api/restore?${query}`, { method: 'POST', body, headers })
  return { status: response.status, body: await response.text() }
}

const planOf = ({ body }: { body: string }) => (JSON.parse(body) as { plan: RestorePlan }).plan

/** Everything that people can see of a server. */
async function stateOf({ services, request }: TestServer) {
  const get = async (path: string) => (await request(path)).json()
  const { sessions } = (await get('/api/sessions?limit=1000')) as { sessions: { id: string; url?: string }[] }
  const whole = []
  for (const { id } of sessions) {
    const read = (await get(`/api/sessions/${id}?payloads=all`)) as Session
    // A session that runs is lost after a while, on a slow machine before the test ends.
    const { url: _url, endState, endedAt: _endedAt, durationMs: _durationMs, ...session } = read.session
    whole.push({ steps: read.steps, session, hasEnded: endState !== 'running' && endState !== 'lost' })
  }
  const objects = []
  for await (const place of services.objects.all()) objects.push(place)
  return { projects: services.registry.projects(), keys: services.registry.keys('default'), whole, objects }
}

describe('a restore', () => {
  let backup: ArrayBuffer
  beforeEach(async () => {
    backup = await backupOf(source)
  })

  test('says what it will do, and does nothing in a dry run', async () => {
    await target.postTraces(tracesPayload(session({ traceId: shared, name: 'shared' }).slice(2)))
    const before = await stateOf(target)
    const dry = await restore(target, backup, 'dryRun=true&withKeys=true')

    expect(JSON.parse(dry.body)).toEqual({
      isDryRun: true,
      plan: {
        backupCreatedAt: expect.stringMatching(/^\d{4}-/) as string,
        projects: { total: 2, added: ['shop'], replaced: ['default'] },
        sessions: { total: 2, added: 1 },
        steps: { total: 5, added: 5, replaced: 0 },
        logs: 0,
        objects: 1,
        monitors: 1,
        destinations: 1,
        keys: {
          total: 1,
          isIncluded: true,
          list: [
            {
              name: 'ci',
              project: 'default',
              scopes: ['ingest', 'admin'],
              isRevoked: false,
              isPresent: false,
            },
          ],
        },
      },
    })
    expect(await stateOf(target)).toEqual(before)
    expect(await (await target.request('/api/restore')).json()).toEqual({ last: null })
  })

  test('brings monitors and destinations, and secrets only if the backup was asked for them', async () => {
    const read = async () => {
      const monitors = (await (await target.request('/api/monitors')).json()) as { monitors: unknown[] }
      const { destinations } = (await (await target.request('/api/destinations')).json()) as {
        destinations: unknown[]
      }
      return { monitors: monitors.monitors.length, destinations }
    }
    await restore(target, backup)
    const disabled = { id: 'team', isEnabled: false, secrets: [], problem: expect.stringContaining('url') }
    expect(await read()).toMatchObject({ monitors: 1, destinations: [disabled] })
    await target.request('/api/restore/undo', { method: 'POST' })
    expect(await read()).toEqual({ monitors: 0, destinations: [] })

    const whole = await (await source.request('/api/backup?withSecrets=true')).arrayBuffer()
    await restore(target, whole)
    const enabled = { id: 'team', isEnabled: true, secrets: ['url'], target: 'https://hooks.example' }
    expect(await read()).toMatchObject({ monitors: 1, destinations: [enabled] })
    // A backup without secrets does not rob a destination of its own.
    await restore(target, backup)
    expect(await read()).toMatchObject({ destinations: [enabled] })
    await target.request('/api/restore/undo', { method: 'POST' })
    for (const [path, id] of [
      ['monitors', 'silence'],
      ['destinations', 'team'],
    ])
      await target.request(`/api/${path}/${id}`, { method: 'DELETE' })
  })

  test('leaves keys out unless asked, can be undone, and what arrived later stays', async () => {
    const before = await stateOf(target)
    const restored = await restore(target, backup)
    const after = await stateOf(target)
    expect([restored.status, planOf(restored).keys]).toMatchObject([200, { total: 1, isIncluded: false }])
    expect(target.services.registry.findKey(secret)).toBeUndefined()
    expect(after.whole.map(({ steps }) => steps.length)).toEqual([3, 3])
    expect(after.objects).toHaveLength(1)
    expect(await (await target.request('/api/restore')).json()).toMatchObject({
      last: { plan: planOf(restored) },
    })

    const later = hex(16)
    await target.postTraces(tracesPayload(session({ traceId: later, name: 'later' })))
    const undone = await target.request('/api/restore/undo', { method: 'POST' })
    expect([undone.status, await undone.json()]).toEqual([200, { undone: planOf(restored) }])
    const { whole, ...rest } = await stateOf(target)
    expect(rest).toEqual({ projects: before.projects, keys: before.keys, objects: before.objects })
    expect(whole.filter((read) => read.session.id !== later)).toEqual(before.whole)
    expect(whole).toHaveLength(before.whole.length + 1)
    expect((await target.request('/api/restore/undo', { method: 'POST' })).status).toBe(409)
    const actions = (await (await target.request('/api/audit')).json()) as { entries: { action: string }[] }
    expect(actions.entries.map(({ action }) => action).slice(0, 2)).toEqual([
      'backup.undone',
      'backup.restored',
    ])
  })

  test('brings keys to life only if asked, and an undo ends them', async () => {
    await restore(target, backup, 'withKeys=true')
    const ask = async () => (await target.request('/api/me', { headers: bearer(secret) })).json()
    expect(await ask()).toMatchObject({ kind: 'key', project: 'default' })
    await target.request('/api/restore/undo', { method: 'POST' })
    expect(target.services.registry.findKey(secret)).toBeUndefined()
  })

  test('returns project settings and steps that it replaced', async () => {
    const server = await startTestServer()
    await restore(server, await backupOf(target))
    await server.services.registry.updateProject('default', { name: 'Mine' })
    const mine = await stateOf(server)
    await source.services.registry.updateProject('default', { name: 'Newer' })
    const restored = await restore(server, await backupOf(source))

    expect(planOf(restored).projects.replaced).toEqual(['default'])
    expect(server.services.registry.project('default')?.name).toBe('Newer')
    await server.request('/api/restore/undo', { method: 'POST' })
    expect(await stateOf(server)).toEqual(mine)
    await server.stop()
  })

  test('that was interrupted is undone by the next start, which says so', async () => {
    const before = await stateOf(target)
    await restore(target, backup)
    await target.stop()
    const journal = join(target.dataDirectory, 'restore', 'journal.json')
    const text = await readFile(journal, 'utf8')
    await writeFile(journal, text.replace('"state":"applied"', '"state":"applying"'))
    target = await startTestServer(folder)

    expect(target.reports).toEqual([
      'A restore was interrupted. Everything it had added was removed; restore the backup again.',
    ])
    expect(await stateOf(target)).toEqual(before)
    expect(await (await target.request('/api/restore')).json()).toEqual({ last: null })
  })
})

describe('a crafted backup is refused whole', () => {
  let before: Awaited<ReturnType<typeof stateOf>>
  beforeAll(async () => {
    before = await stateOf(target)
  })
  const step = {
    project: 'default',
    session_id: hex(16),
    step_id: hex(8),
    started_at: '2026-01-01',
    received_at: '2026-01-01',
    kind: 'llm',
    status: 'ok',
    attributes: '{}',
    resource: '{}',
    outline: '{}',
  }
  const project = { id: 'crafted', name: 'x', created_at: '2026-01-01', price_overrides: '[]', version: 1 }
  const log = {
    project: 'default',
    session_id: hex(16),
    log_id: 'l',
    logged_at: '2026-01-01',
    received_at: '2026-01-01',
    body: '1',
    attributes: '{}',
    resource: '{}',
  }
  test.each<[string, string, object, string]>([
    [
      'prices that are no JSON',
      'projects',
      { ...project, price_overrides: 'no JSON' },
      'projects "crafted": Its prices were left out',
    ],
    [
      'a price of a wrong type',
      'projects',
      { ...project, price_overrides: '[{"model":1}]' },
      'projects "crafted": Price 1 was left out',
    ],
    [
      'a project id that leaves the folder',
      'projects',
      { ...project, id: '../x' },
      'its id is not a valid project id',
    ],
    [
      'a retention that deletes everything',
      'projects',
      { ...project, retention_days: 0 },
      'retention of 0 days',
    ],
    [
      'a project version that outlasts all changes',
      'projects',
      { ...project, version: '9000000000000000000' },
      'its version is in the future',
    ],
    [
      'a session id that is none',
      'steps',
      { ...step, session_id: '<b>' },
      'its session id is not hexadecimal',
    ],
    [
      'a step of an unknown project',
      'steps',
      { ...step, project: 'nowhere' },
      'its project is not in the backup',
    ],
    [
      'attributes that are no JSON',
      'steps',
      { ...step, attributes: '{' },
      'its attributes are not a JSON object',
    ],
    [
      'attributes that are no object',
      'steps',
      { ...step, attributes: '[]' },
      'its attributes are not a JSON object',
    ],
    ['events without a time', 'steps', { ...step, events: '[{"name":"x"}]' }, 'an event has no time'],
    [
      'an outline with a wrong type',
      'steps',
      { ...step, outline: '{"session":5}' },
      '"session" must be a object',
    ],
    ['an unknown kind', 'steps', { ...step, kind: 'nonsense' }, 'unknown kind "nonsense"'],
    [
      'a version of a step that outlasts all others',
      'steps',
      { ...step, version: '18000000000000000000' },
      'its version is too high',
    ],
    [
      'a copy from the future',
      'steps',
      { ...step, arrival: '9000000000000000000' },
      'it arrived in the future',
    ],
    ['a log record that is no JSON', 'logs', { ...log, body: '{' }, 'its body is not JSON'],
  ])('%s', async (_, table, row, problem) => {
    const crafted = source
    await insert(crafted, table, [row])
    const answer = await restore(target, await backupOf(crafted))
    const where = Object.entries(row)
      .filter(([, value]) => typeof value === 'string')
      .slice(0, 3)
    await crafted.services.store.client.command({
      query: `DELETE FROM ${table} WHERE ${where.map(([name], index) => `toString(${name}) LIKE {v${index}:String}`).join(' AND ')}`,
      query_params: Object.fromEntries(where.map(([, value], index) => [`v${index}`, `${String(value)}%`])),
    })

    expect([answer.status, answer.body]).toEqual([
      400,
      expect.stringContaining(problem.replaceAll('"', '\\"')) as string,
    ])
    expect(await stateOf(target)).toEqual(before)
  })

  test('keys that are no keys, if they are wanted', async () => {
    await insert(source, 'keys', [key({ id: 'odd', hash: 'x', version: 6 })])
    const backup = await backupOf(source)
    const refused = await restore(target, backup, 'withKeys=true')
    const accepted = await restore(target, backup, 'dryRun=true')
    await source.services.store.client.command({ query: "DELETE FROM keys WHERE id = 'odd'" })

    expect([refused.status, accepted.status]).toEqual([400, 200])
    expect(refused.body).toContain('its hash is not a SHA-256')
  })
})
