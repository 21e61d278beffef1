import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Findings } from '@playhead/model'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { responseSchemas } from '../../src/api/schemas/responses.ts'
import { hex, tracesPayload } from '../otlp.ts'
import { startTestServer, type TestServer } from '../test-server.ts'
import { healthySession, loopSession, toolSession } from './failing-sessions.ts'

let server: TestServer
let dataDirectory: string
const start = () => startTestServer({ PLAYHEAD_DATA: dataDirectory })
beforeAll(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'playhead-findings-'))
  server = await start()
})
afterAll(async () => {
  await server.stop()
  await rm(dataDirectory, { recursive: true, force: true })
})

async function findingsOf(id: string): Promise<Findings> {
  const response = await server.request(`/api/sessions/${id}/findings`)
  const body: unknown = await response.json()
  expect(responseSchemas['GET /api/sessions/{id}/findings'].parse(body)).toEqual(body)
  return body as Findings
}

/** Findings are computed in the background. */
const eventually = <Value>(check: () => Promise<Value>) =>
  vi.waitFor(check, { timeout: 60_000, interval: 100 })

const listed = (query: string) => server.sessions(`${query}&limit=100&suspects=true`)

test('says what went wrong, as soon as the session has ended', async () => {
  const traceId = hex(16)
  await server.postTraces(tracesPayload(loopSession({ traceId })))
  const { findings, suspects } = await findingsOf(traceId)
  expect(suspects[0]?.sentence).toBe(
    'search_help was called 5 times with the same arguments and returned the same empty result; it began at step 3.',
  )
  const { steps } = await server.session(traceId)
  expect(suspects[0]?.stepId).toBe(steps[3]?.id)
  expect(findings[suspects[0]!.findings[0]!]).toMatchObject({ kind: 'loop', weight: expect.any(Number) })
})

test('a session that is fine, and one that still runs, have none', async () => {
  const [fine, running] = [hex(16), hex(16)]
  const [root, ...rest] = loopSession({ traceId: running, startMs: Date.now() - 1000 })
  await server.postTraces(tracesPayload([...healthySession({ traceId: fine }), ...rest]))
  expect(root).toBeDefined()
  expect(await findingsOf(fine)).toEqual({ findings: [], suspects: [] })
  expect(await findingsOf(running)).toEqual({ findings: [], suspects: [] })
})

test('lists show the first suspect in the background, and filter by its kind', async () => {
  const traceId = hex(16)
  await server.postTraces(tracesPayload(loopSession({ traceId, name: 'listed' })))
  const [session] = await eventually(async () => {
    const found = await listed('finding=loop&name=listed')
    expect(found).toHaveLength(1)
    return found
  })
  expect(session).toMatchObject({
    id: traceId,
    suspect: { kind: 'loop', sentence: expect.stringContaining('5 times') },
  })
  expect(await listed('finding=outlier&name=listed')).toEqual([])
  expect((await server.request('/api/sessions?finding=nonsense')).status).toBe(400)
})

test('spans that arrive late are judged again', async () => {
  const traceId = hex(16)
  const spans = toolSession(
    [
      { tool: 'get_order', given: { id: 'o' }, result: { id: 'o' } },
      { tool: 'refund_order', given: { id: 'o' }, error: 'the gateway is closed' },
    ],
    { traceId, name: 'late', answer: 'You are all set, have a wonderful day!' },
  )
  const isLate = ({ name }: { name?: string }) => name === 'execute_tool refund_order'
  await server.postTraces(tracesPayload(spans.filter((span) => !isLate(span))))
  expect((await findingsOf(traceId)).suspects).toEqual([])
  await server.postTraces(tracesPayload(spans.filter(isLate)))
  expect((await findingsOf(traceId)).suspects[0]?.sentence).toContain('Nothing retried or mentioned it')
  await eventually(async () => expect(await listed('finding=ignored-error&name=late')).toHaveLength(1))
})

test('a failed session is compared with one of the same input that passed', async () => {
  const refund = (amount: number) => ({ tool: 'refund_order', given: { id: 'o', amount }, result: 'ok' })
  const [passed, failed] = [hex(16), hex(16)]
  await server.postTraces(
    tracesPayload(
      toolSession([refund(20)], { traceId: passed, name: 'refunds', answer: 'Done, thank you for waiting.' }),
    ),
  )
  await server.postTraces(
    tracesPayload(
      toolSession([refund(2)], {
        traceId: failed,
        name: 'refunds',
        answer: 'Done, thank you for waiting.',
        endState: 'Fail',
      }),
    ),
  )
  const { suspects } = await findingsOf(failed)
  expect(suspects[0]?.sentence).toContain(`which passed`)
})

test('findings survive a restart, and sessions that ended meanwhile get theirs', async () => {
  const traceId = hex(16)
  await server.postTraces(tracesPayload(loopSession({ traceId, name: 'restarted' })))
  await server.stop()
  server = await start()
  await eventually(async () => expect(await listed('finding=loop&name=restarted')).toHaveLength(1))
  expect(await listed('finding=loop&name=listed')).toHaveLength(1)
})

test('rederive computes them again', async () => {
  const { client } = server.services.store
  await client.command({
    query: 'ALTER TABLE session_findings UPDATE diagnosis_version = 0, suspect_kinds = [] WHERE 1',
    clickhouse_settings: { mutations_sync: '2' },
  })
  expect(await listed('finding=loop')).toEqual([])
  const response = await server.request('/api/rederive', { method: 'POST' })
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { result?: { findings: number } })
  expect(lines.at(-1)?.result?.findings).toBeGreaterThan(3)
  expect((await listed('finding=loop')).length).toBeGreaterThan(2)
})

test('deleted sessions take their findings along', async () => {
  const [session] = await listed('finding=loop&name=listed')
  await server.request(`/api/sessions/${session!.id}`, { method: 'DELETE' })
  const { client } = server.services.store
  const result = await client.query({
    query: `SELECT count() AS rows FROM session_findings WHERE session_id = '${session!.id}'`,
    format: 'JSONEachRow',
  })
  expect(await result.json()).toEqual([{ rows: 0 }])
})
