import { beforeAll, describe, expect, test } from 'vitest'
import { describeWithEachEngine, HOUR, NOW, session } from './project-server.ts'
import { hex } from './otlp.ts'

describeWithEachEngine((api) => {
  describe('a session', () => {
    beforeAll(() => api.freshProject())

    test('is found by an unambiguous prefix of its id, with or without s_', async () => {
      const traceId = `abcd${hex(14)}`
      await api.post(session({ traceId, name: 'one' }))
      for (const typed of [traceId, traceId.slice(0, 8), `s_${traceId.slice(0, 8)}`, traceId.toUpperCase()]) {
        expect((await api.server.session(typed, `project=${api.project}`)).session.id).toBe(traceId)
      }

      await api.post(session({ traceId: `abcd${hex(14)}` }))
      const ambiguous = await api.server.request(`/api/sessions/s_abcd?project=${api.project}`)
      expect([ambiguous.status, await ambiguous.json()]).toMatchObject([
        409,
        { error: { code: 'AMBIGUOUS_ID' } },
      ])
      const missing = await api.server.request(`/api/sessions/${hex(16)}?project=${api.project}`)
      expect([missing.status, await missing.json()]).toMatchObject([
        404,
        { error: { code: 'SESSION_NOT_FOUND' } },
      ])
    })

    test('is running while a step has not ended, and completes when the end arrives', async () => {
      const [root, call, action] = session({ name: 'live', startMs: Date.now() - 500 })
      const { endMs: _, ...open } = root!
      await api.post([open, call!])
      const during = await api.server.session(root!.traceId!, `project=${api.project}`)
      expect(during.session).toMatchObject({ endState: 'running', endedAt: null, durationMs: null })
      expect(await api.names('status=running')).toEqual(['live'])

      await api.post([action!, root!])
      const after = await api.server.session(root!.traceId!, `project=${api.project}`)
      expect(after.session).toMatchObject({ endState: 'success', durationMs: 1_000, stepCount: 3 })
      expect(await api.names('status=running')).toEqual([])
    })

    test('shows an action that nobody recorded, with what the two calls around it say', async () => {
      const traceId = hex(16)
      const root = { traceId, spanId: hex(8), name: 'untraced tools', startMs: NOW, endMs: NOW + 100 }
      const chat = (startMs: number, input: unknown[], output: unknown[]) => ({
        traceId,
        spanId: hex(8),
        parentSpanId: root.spanId,
        startMs,
        endMs: startMs + 20,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.input.messages': JSON.stringify(input),
          'gen_ai.output.messages': JSON.stringify(output),
        },
      })
      const question = { role: 'user', parts: [{ type: 'text', content: 'Weather in Paris?' }] }
      const request = { type: 'tool_call', id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } }
      const asked = { role: 'assistant', parts: [request] }
      const result = { type: 'tool_call_response', id: 'call_1', response: 'sunny' }
      await api.post([
        root,
        chat(NOW + 10, [question], [asked]),
        chat(NOW + 60, [question, asked, { role: 'tool', parts: [result] }], []),
      ])
      const shown = {
        kind: 'action',
        name: 'get_weather',
        isInferred: true,
        offsetMs: 30,
        durationMs: 30,
        input: { city: 'Paris' },
        output: 'sunny',
      }

      const [listed] = await api.server.sessions(`project=${api.project}&name=untraced tools`)
      expect(listed).toMatchObject({ actionCount: 1, stepCount: 4, tools: ['get_weather'] })
      const { steps } = await api.server.session(traceId, `project=${api.project}&payloads=all`)
      expect(steps[2]).toMatchObject(shown)
      const path = `/api/sessions/${traceId}/steps/${steps[2]!.id}?project=${api.project}`
      expect(await (await api.server.request(path)).json()).toMatchObject(shown)

      const get = async (url: string) =>
        (await api.server.request(`${url}&project=${api.project}&name=untraced tools`)).json() as Promise<
          Record<string, unknown>
        >
      expect(await get('/api/stats?groupBy=tool')).toMatchObject({
        groups: [{ key: 'get_weather', total: 1, calls: 1, failedCalls: 0 }],
      })
      expect(await api.names('tool=get_weather&name=untraced tools')).toEqual(['untraced tools'])
      const { nodes, variants } = await get('/api/graph?of=actions')
      expect(nodes).toContainEqual(
        expect.objectContaining({ name: 'get_weather', kind: 'action', times: 1, errors: 0, p90Ms: 30 }),
      )
      expect(variants).toMatchObject([{ path: ['action get_weather'] }])
      const steps2 = (await get('/api/graph?of=steps')) as { variants: unknown[] }
      expect(steps2.variants).toMatchObject([{ path: ['llm gpt-4o', 'action get_weather', 'llm gpt-4o'] }])
    })

    test('shows in the graph what the whole session makes of its steps', async () => {
      const traceId = hex(16)
      const at = (from: number, to: number) => ({
        traceId,
        spanId: hex(8),
        startMs: NOW + from,
        endMs: NOW + to,
      })
      const root = { ...at(0, 100), name: 'requested' }
      const call = {
        ...at(10, 20),
        parentSpanId: root.spanId,
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
      }
      // A request of the model, which ran nowhere.
      const request = {
        ...at(19, 19),
        parentSpanId: call.spanId,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'look',
          'gen_ai.tool.call.arguments': '{"at":1}',
        },
      }
      await api.post([root, call, request])

      const response = await api.server.request(`/api/graph?of=steps&project=${api.project}&name=requested`)
      expect(await response.json()).toMatchObject({ variants: [{ path: ['llm gpt-4o'] }] })
    })

    test('shows a caught error as handled while it still runs, also if it was wrapped on its way up', async () => {
      const traceId = hex(16)
      const [root, helper] = [hex(8), hex(8)]
      const startMs = Date.now() - 500
      const at = (from: number, to?: number) => ({
        traceId,
        spanId: hex(8),
        startMs: startMs + from,
        ...(to !== undefined && { endMs: startMs + to }),
      })
      const error = (message: string, cause?: object) => ({
        status: { code: 2, message },
        attributes: { 'playhead.step.error': JSON.stringify({ type: 'Error', message, cause }) },
      })
      const open = { ...at(0), spanId: root, name: 'invoke_agent main' }
      const tool = {
        ...at(20, 40),
        parentSpanId: helper,
        name: 'execute_tool query',
        ...error('no such table: orders'),
      }
      const wrapper = {
        ...at(10, 50),
        spanId: helper,
        parentSpanId: root,
        name: 'invoke_agent helper',
        ...error('the order could not be found', { type: 'Error', message: 'no such table: orders' }),
      }
      const errorsOf = async () => {
        const { session: summary, steps } = await api.server.session(traceId, `project=${api.project}`)
        return [summary.endState, ...steps.flatMap(({ name, error }) => (error ? [{ name, ...error }] : []))]
      }
      const own = { name: 'query', type: 'Error', message: 'no such table: orders' }
      const passedOn = {
        name: 'helper',
        type: 'Error',
        message: 'the order could not be found',
        cause: { type: 'Error', message: 'no such table: orders' },
        isPropagated: true,
      }

      await api.post([open, tool, wrapper])
      expect(await errorsOf()).toEqual(['running', passedOn, own])
      await api.post([{ ...at(60), parentSpanId: root, name: 'execute_tool search' }])
      expect(await errorsOf()).toEqual([
        'running',
        { ...passedOn, isHandled: true },
        { ...own, isHandled: true },
      ])
      expect((await api.server.sessions(`project=${api.project}&status=running`))[0]).toMatchObject({
        id: traceId,
        errorCount: 1,
      })
    })

    test('keeps the richer of two copies of a span, in any order of arrival', async () => {
      for (const isRicherFirst of [true, false]) {
        const [root, call] = session({ name: 'copies' })
        const poor = { ...call!, spanId: hex(8), attributes: { 'gen_ai.request.model': 'gpt-4o' } }
        const rich = { ...poor, attributes: call!.attributes! }
        for (const copy of isRicherFirst ? [rich, poor] : [poor, rich]) await api.post([root!, copy])

        const { session: summary, steps } = await api.server.session(root!.traceId!, `project=${api.project}`)
        expect([summary.usage.input, steps.length]).toEqual([100, 2])
      }
    })

    test('is listed once if its root arrives last and moves it into another hour', async () => {
      const traceId = hex(16)
      const [root, call] = session({ traceId, name: 'crossing', startMs: NOW - 5 * HOUR })
      await api.post([{ ...call!, startMs: NOW - 3 * HOUR, endMs: NOW - 3 * HOUR + 10 }])
      expect(await api.names('name=crossing')).toHaveLength(0)
      await api.server.sessions(`project=${api.project}`)
      await api.post([root!])

      expect(await api.names('name=crossing')).toEqual(['crossing'])
      expect(
        (await api.server.sessions(`project=${api.project}`)).filter(({ id }) => id === traceId),
      ).toHaveLength(1)
    })

    test('returns one step with its payload, the recording, and the original spans', async () => {
      const spans = session({ name: 'whole', prompt: 'the whole prompt' })
      await api.post(spans)
      const [{ traceId }] = spans as [{ traceId: string }]
      const { steps } = await api.server.session(traceId, `project=${api.project}&payloads=none`)
      const call = steps.find(({ kind }) => kind === 'llm')!
      expect(call.hasPayload).toBe(false)

      const step = (await (
        await api.server.request(`/api/sessions/${traceId}/steps/${call.id}?project=${api.project}`)
      ).json()) as typeof call
      expect(step).toMatchObject({
        hasPayload: true,
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'the whole prompt' }] }],
      })

      const recording = await api.server.request(`/api/sessions/${traceId}/recording?project=${api.project}`)
      expect(await recording.json()).toMatchObject({
        version: 1,
        session: { id: traceId },
        steps: expect.any(Array) as unknown[],
      })
      const otlp = (await (
        await api.server.request(`/api/sessions/${traceId}/recording.otlp?project=${api.project}`)
      ).json()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] }
      expect(otlp.resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(3)
    })

    test('can be deleted', async () => {
      const [root] = session({ name: 'doomed' })
      await api.post([root!])
      expect(await api.names('name=doomed')).toEqual(['doomed'])

      const response = await api.server.request(`/api/sessions/${root!.traceId}?project=${api.project}`, {
        method: 'DELETE',
      })

      expect(response.status).toBe(200)
      expect(await api.names('name=doomed')).toEqual([])
      expect((await api.server.request(`/api/sessions/${root!.traceId}?project=${api.project}`)).status).toBe(
        404,
      )
    })
  })
})
