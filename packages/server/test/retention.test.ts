import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyRetention, startRetention } from '../src/maintenance/retention.ts'
import { tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

test('retention retries soon when the store is unavailable, not in an hour', async () => {
  await server.postTraces(tracesPayload([{ endMs: 1_700_000_000_500 }]))
  expect(await server.sessions()).toHaveLength(1)
  await server.request('/api/projects/default', { method: 'PATCH', json: { retentionDays: 1 } })
  const { store, registry, objects, nodes } = server.services
  let failures = 0
  const client = new Proxy(store.client, {
    get: (target, name: keyof typeof store.client) =>
      name === 'query' && failures++ < 2
        ? () => Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
        : target[name].bind(target),
  })
  const lines: string[] = []
  const { drain, gate } = server.services
  const report = (line: string) => void lines.push(line)
  const stop = startRetention({
    store: { ...store, client },
    registry,
    objects,
    nodes,
    gate,
    drain,
    report,
    retryMs: 20,
  })

  await expect.poll(() => server.sessions()).toEqual([])

  stop()
  const line =
    'Expired sessions are not deleted yet, because the store is not available. The next attempt is in a minute. (read ECONNRESET)'
  expect(lines).toEqual([line, line])
})

test('retention also deletes expired sessions that were still in the log', async () => {
  const { services } = server
  const report = (line: string) => void server.reports.push(line)
  await server.postTraces(tracesPayload([{ endMs: 1_700_000_000_500 }]))
  const stop = startRetention({ ...services, report })

  await expect.poll(() => services.pipeline.steps.state().pendingRows).toBe(0)
  await expect.poll(() => server.sessions()).toEqual([])
  const readAudit = async () =>
    (await (await server.request('/api/audit?action=sessions')).json()) as { entries: object[] }
  await expect.poll(readAudit).toMatchObject({
    entries: Array.from({ length: 2 }, () => ({
      action: 'sessions.deleted',
      project: 'default',
      caller: { kind: 'server', name: 'retention' },
      detail: '1 session older than 1 day',
    })),
  })

  stop()
})

test('retention deletes expired uploaded objects, but not those of other projects', async () => {
  const { services } = server
  const [old, fresh] = [Buffer.from('old'), Buffer.from('fresh')]
  for (const project of ['default', 'other'])
    for (const content of [old, fresh]) {
      const name = await services.objects.keep(project, content)
      const path = join(services.dataDirectory, 'objects', project, name)
      if (content === old) await utimes(path, 1_700_000_000, 1_700_000_000)
    }

  await applyRetention(services, Date.now())

  const left: string[] = []
  for await (const place of services.objects.all())
    left.push(`${place.project} ${(await services.objects.read(place))!.toString()}`)
  expect(left.toSorted()).toEqual(['default fresh', 'other fresh', 'other old'])
})
