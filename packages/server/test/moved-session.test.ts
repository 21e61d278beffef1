import { expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer } from './test-server.ts'

const HOUR_MS = 3_600_000

test('a session whose only span is resent with another start time is listed once, at the first time', async () => {
  const server = await startTestServer()
  const [traceId, spanId] = [hex(16), hex(8)]
  const startMs = Date.UTC(2026, 5, 1, 12)
  const send = (hours: number, attributes: Record<string, unknown>) =>
    server.postTraces(
      tracesPayload([
        { traceId, spanId, startMs: startMs + hours * HOUR_MS, endMs: startMs + 5 * HOUR_MS, attributes },
      ]),
    )

  await send(0, {})
  expect(await server.sessions()).toHaveLength(1)
  await send(2, { more: 'to say' })

  expect((await server.sessions()).map(({ id, startedAt }) => [id, startedAt])).toEqual([
    [traceId, '2026-06-01T12:00:00.000Z'],
  ])
  await server.stop()
})

test('a step ends even if its end event has another start time than its start event', async () => {
  const server = await startTestServer()
  const [traceId, spanId] = [hex(16), hex(8)]
  const startMs = Date.now()

  for (const order of ['first', 'second']) {
    const id = order === 'first' ? traceId : hex(16)
    const begun = { traceId: id, spanId, startMs, attributes: { note: 'begun' } }
    const open = tracesPayload([begun])
    const ended = tracesPayload([
      { ...begun, startMs: startMs + 0.25, endMs: startMs + 10, attributes: { note: 'ended' } },
    ])
    for (const payload of order === 'first' ? [open, ended] : [ended, open]) {
      await server.postTraces(payload)
      await server.sessions()
    }
    const { session, steps } = await server.session(id)
    expect(steps).toMatchObject([{ id: spanId, status: 'ok', durationMs: 9.75 }])
    expect(session).toMatchObject({ endState: 'success', stepCount: 1 })
    const firstScreen = await server.session(id, '')
    expect(firstScreen.steps).toMatchObject([{ attributes: { note: 'ended' } }])
  }
  expect((await server.sessions()).map(({ endState }) => endState)).toEqual(['success', 'success'])
  await server.stop()
})
