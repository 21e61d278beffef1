import { afterAll, beforeAll, expect, test } from 'vitest'
import { grpcSender } from './grpc-client.ts'
import { tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ PLAYHEAD_GRPC_PORT: '0' })
  for (const id of ['small', 'large']) await server.request('/api/projects', { json: { id, name: id } })
  await server.request('/api/projects/small', { method: 'PATCH', json: { dailySpans: 2 } })
})
afterAll(() => server.stop())

function send(project: string, path = '/v1/traces'): Promise<Response> {
  return server.request(path, {
    json: tracesPayload([{ endMs: 1_700_000_000_001 }]),
    headers: { 'x-playhead-project': project },
  })
}

test('a project at its quota gets 429 with the reason and the time, and nothing of it is stored; others go on', async () => {
  for (let request = 0; request < 2; request++) expect((await send('small')).status).toBe(200)

  const refused = await send('small')

  expect(refused.status).toBe(429)
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(86_400)
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'QUOTA_EXCEEDED',
      message: expect.stringMatching(/^Project "small" has used its quota of 2 spans for today \(UTC\)\./),
    },
  })
  expect((await send('large')).status).toBe(200)
  expect(await server.sessions('project=small')).toHaveLength(2)
  expect(server.reports.filter((line) => line.includes('quota'))).toHaveLength(1)
})

test('gRPC and the AgentOps API refuse it too', async () => {
  const sender = grpcSender(server.grpcAddress!)
  const call = await sender.send('trace', Buffer.alloc(0), { 'x-playhead-project': 'small' })
  sender.close()
  expect(call).toMatchObject({ code: 8, details: expect.stringContaining('has used its quota') })
  const upload = await server.request('/v4/logs/upload', {
    method: 'POST',
    body: 'a line',
    headers: { 'x-playhead-project': 'small' },
  })
  expect(upload.status).toBe(429)
})

test('a higher quota takes effect at once', async () => {
  const raised = await server.request('/api/projects/small', { method: 'PATCH', json: { dailySpans: 1_000 } })
  expect(await raised.json()).toMatchObject({ dailySpans: 1_000, dailyBytes: null })
  expect((await send('small')).status).toBe(200)
  const usage = await (await server.request('/api/projects/small/usage')).json()
  expect(usage).toMatchObject({ spans: 3, dailySpans: 1_000, dailyBytes: null })
})
