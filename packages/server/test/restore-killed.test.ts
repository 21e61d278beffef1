import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import { SpawnedServer } from './spawned-server.ts'
import { startTestServer } from './test-server.ts'

const SESSIONS = 300
const DELAYS_MS = [120, 400, 900]

test('after kill -9 during a restore, the next start has all of it or nothing', async () => {
  const source = await startTestServer()
  const spans = Array.from({ length: SESSIONS }, () => session({ name: 'restored' })).flat()
  await source.postTraces(tracesPayload(spans))
  const backup = await (await source.request('/api/backup')).arrayBuffer()
  await source.stop()
  const server = await SpawnedServer.forThisTest()
  await server.start()
  const own = hex(16)
  const sent = await fetch(`${server.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(tracesPayload(session({ traceId: own, name: 'own' }))),
  })
  expect(sent.status).toBe(200)
  const names = async () => {
    const list = await fetch(`${server.url}/api/sessions?limit=1000`)
    const { sessions } = (await list.json()) as { sessions: { name: string }[] }
    return sessions.map(({ name }) => name)
  }
  for (const delayMs of DELAYS_MS) {
    const headers = { 'content-type': 'application/x-tar' }
    const restoring = fetch(`${server.url}/api/restore`, { method: 'POST', body: backup, headers })
    const outcome = restoring.then(
      (response) => response.status,
      () => 'killed',
    )
    await pause(delayMs)
    await server.end('SIGKILL')
    const status = await outcome
    await server.start()
    const found = await names()

    expect(found).toContain('own')
    expect([1, 1 + SESSIONS]).toContain(found.length)
    if (status === 200) expect(found).toHaveLength(1 + SESSIONS)
    const { last } = (await (await fetch(`${server.url}/api/restore`)).json()) as { last: unknown }
    expect(last !== null).toBe(found.length > 1)
    if (last !== null) await fetch(`${server.url}/api/restore/undo`, { method: 'POST' })
    expect(await names()).toEqual(['own'])
  }
})
