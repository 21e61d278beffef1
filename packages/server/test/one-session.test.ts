import { beforeAll, describe, expect, test } from 'vitest'
import { describeWithEachEngine, HOUR, NOW, session } from './asked-server.ts'
import { hex } from './otlp.ts'

describeWithEachEngine((asked) => {
  describe('a session', () => {
    beforeAll(() => asked.freshProject())

    test('is found by an unambiguous beginning of its id, with or without s_', async () => {
      const traceId = `abcd${hex(14)}`
      await asked.post(session({ traceId, name: 'one' }))
      for (const typed of [traceId, traceId.slice(0, 8), `s_${traceId.slice(0, 8)}`, traceId.toUpperCase()]) {
        expect((await asked.server.session(typed, `project=${asked.project}`)).session.id).toBe(traceId)
      }

      await asked.post(session({ traceId: `abcd${hex(14)}` }))
      const ambiguous = await asked.server.request(`/api/sessions/s_abcd?project=${asked.project}`)
      expect([ambiguous.status, await ambiguous.json()]).toMatchObject([
        409,
        { error: { code: 'AMBIGUOUS_ID' } },
      ])
      const missing = await asked.server.request(`/api/sessions/${hex(16)}?project=${asked.project}`)
      expect([missing.status, await missing.json()]).toMatchObject([
        404,
        { error: { code: 'SESSION_NOT_FOUND' } },
      ])
    })

    test('runs while a step lacks its end, and is complete when the end arrives', async () => {
      const [root, call, action] = session({ name: 'live', startMs: Date.now() - 500 })
      const { endMs: _, ...open } = root!
      await asked.post([open, call!])
      const during = await asked.server.session(root!.traceId!, `project=${asked.project}`)
      expect(during.session).toMatchObject({ endState: 'running', endedAt: null, durationMs: null })
      expect(await asked.names('status=running')).toEqual(['live'])

      await asked.post([action!, root!])
      const after = await asked.server.session(root!.traceId!, `project=${asked.project}`)
      expect(after.session).toMatchObject({ endState: 'success', durationMs: 1_000, stepCount: 3 })
      expect(await asked.names('status=running')).toEqual([])
    })

    test('of which a richer copy of a span arrived keeps the richer one, in whatever order', async () => {
      for (const isRicherFirst of [true, false]) {
        const [root, call] = session({ name: 'copies' })
        const poor = { ...call!, spanId: hex(8), attributes: { 'gen_ai.request.model': 'gpt-4o' } }
        const rich = { ...poor, attributes: call!.attributes! }
        for (const copy of isRicherFirst ? [rich, poor] : [poor, rich]) await asked.post([root!, copy])

        const { session: summary, steps } = await asked.server.session(
          root!.traceId!,
          `project=${asked.project}`,
        )
        expect([summary.usage.input, steps.length]).toEqual([100, 2])
      }
    })

    test('that crosses an hour because its root came last is listed once', async () => {
      const traceId = hex(16)
      const [root, call] = session({ traceId, name: 'crossing', startMs: NOW - 5 * HOUR })
      await asked.post([{ ...call!, startMs: NOW - 3 * HOUR, endMs: NOW - 3 * HOUR + 10 }])
      expect(await asked.names('name=crossing')).toHaveLength(0)
      await asked.server.sessions(`project=${asked.project}`)
      await asked.post([root!])

      expect(await asked.names('name=crossing')).toEqual(['crossing'])
      expect(
        (await asked.server.sessions(`project=${asked.project}`)).filter(({ id }) => id === traceId),
      ).toHaveLength(1)
    })

    test('gives one step with its payload, the recording and the spans as they came', async () => {
      const spans = session({ name: 'whole', prompt: 'the whole prompt' })
      await asked.post(spans)
      const [{ traceId }] = spans as [{ traceId: string }]
      const { steps } = await asked.server.session(traceId, `project=${asked.project}&payloads=none`)
      const call = steps.find(({ kind }) => kind === 'llm')!
      expect(call.hasPayload).toBe(false)

      const step = (await (
        await asked.server.request(`/api/sessions/${traceId}/steps/${call.id}?project=${asked.project}`)
      ).json()) as typeof call
      expect(step).toMatchObject({
        hasPayload: true,
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'the whole prompt' }] }],
      })

      const recording = await asked.server.request(
        `/api/sessions/${traceId}/recording?project=${asked.project}`,
      )
      expect(await recording.json()).toMatchObject({
        version: 1,
        session: { id: traceId },
        steps: expect.any(Array) as unknown[],
      })
      const otlp = (await (
        await asked.server.request(`/api/sessions/${traceId}/recording.otlp?project=${asked.project}`)
      ).json()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] }
      expect(otlp.resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(3)
    })

    test('can be deleted', async () => {
      const [root] = session({ name: 'doomed' })
      await asked.post([root!])
      expect(await asked.names('name=doomed')).toEqual(['doomed'])

      const response = await asked.server.request(`/api/sessions/${root!.traceId}?project=${asked.project}`, {
        method: 'DELETE',
      })

      expect(response.status).toBe(200)
      expect(await asked.names('name=doomed')).toEqual([])
      expect(
        (await asked.server.request(`/api/sessions/${root!.traceId}?project=${asked.project}`)).status,
      ).toBe(404)
    })
  })
})
