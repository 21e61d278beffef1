import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Session, Step } from '@playhead/model'
import { readBeginning } from '../src/sessions/short-sessions.ts'
import { readOutlinesAndCopies } from '../src/sessions/stored-steps.ts'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** What has ended stays as it was acknowledged first: a later copy may add, and what it changes is only noted. */
let server: TestServer
let ingest: string
let admin: string

beforeAll(async () => {
  ;({ server } = await startLockedServer())
  const { registry } = server.services
  await registry.createProject({ id: 'stays', name: 'Stays' })
  const create = async (scope: 'ingest' | 'admin') =>
    (await registry.createKey({ project: 'stays', name: scope, scopes: [scope] })).secret
  ;[ingest, admin] = [await create('ingest'), await create('admin')]
})
afterAll(() => server.stop())

async function post(spans: SpanOptions[], headers: Record<string, string> = bearer(ingest)) {
  const response = await server.request('/v1/traces', { json: tracesPayload(spans), headers })
  return { status: response.status, body: await response.text() }
}

async function read(id: string): Promise<Session> {
  const path = `/api/sessions/${id}?project=stays&payloads=all`
  const response = await server.request(path, { headers: bearer(admin) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Session
}

async function merge(): Promise<void> {
  await server.services.store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
}

async function listed(id: string) {
  const response = await server.request('/api/sessions?project=stays&limit=1000', { headers: bearer(admin) })
  const { sessions } = (await response.json()) as { sessions: Session['session'][] }
  return sessions.find((summary) => summary.id === id)!
}

/** What people see of a step, without what differs by arrival. */
function shown({ steps, session: summary }: Session) {
  return { summary, steps: steps.map(({ changes: _, ...step }) => step) }
}

function failedRun(): [SpanOptions, SpanOptions, SpanOptions] {
  const spans = session({ name: 'refunds', error: 'card declined' }) as [
    SpanOptions,
    SpanOptions,
    SpanOptions,
  ]
  return spans
}

describe('a copy that contradicts', () => {
  test('does not turn a failure into a success, and the page is told', async () => {
    const [root, call, tool] = failedRun()
    const id = root.traceId!
    await post([root, call, tool])
    const before = await read(id)
    const listedBefore = await listed(id)
    const forged = [root, tool].map((span) => ({
      ...span,
      spanId: span === root ? root.spanId! : before.steps.find(({ kind }) => kind === 'action')!.id,
      status: { code: 1 },
      endMs: span.endMs! + 5_000,
      events: [],
      attributes: { ...span.attributes, 'playhead.session.end_state': 'Success', padding: 'x'.repeat(5_000) },
    }))
    await post(forged)

    const after = await read(id)
    await merge()
    const merged = await read(id)

    expect(before.session.endState).toBe('fail')
    expect(shown(after).summary).toEqual(before.session)
    expect(await listed(id)).toEqual(listedBefore)
    expect(after.steps.map(({ status, durationMs, error }) => ({ status, durationMs, error }))).toEqual(
      before.steps.map(({ status, durationMs, error }) => ({ status, durationMs, error })),
    )
    expect(after.steps[0]!.changes).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-/) as string,
        fields: [
          { field: 'status', was: 'error', sent: 'ok' },
          { field: 'end', was: after.steps[0]!.endedAt, sent: expect.any(String) as string },
          { field: 'end state', was: 'fail', sent: 'success' },
        ],
      },
    ])
    expect(merged).toEqual(after)
    const step = await server.request(`/api/sessions/${id}/steps/${root.spanId}?project=stays`, {
      headers: bearer(admin),
    })
    expect(((await step.json()) as Step).changes).toEqual(after.steps[0]!.changes)
  })

  test.each<[string, Partial<SpanOptions>, string[]]>([
    ['name', { name: 'something else' }, ['name']],
    ['parent', { parentSpanId: hex(8) }, ['parent']],
    ['start', { startMs: 1_700_000_000_500 }, ['start']],
    ['end', { endMs: 1_700_000_009_000 }, ['end']],
    ['status', { status: { code: 2, message: 'broke' } }, ['status']],
    ['a value', { attributes: { 'gen_ai.usage.input_tokens': 7 } }, ['gen_ai.usage.input_tokens']],
  ])('of %s leaves the step as it was', async (_, change, fields) => {
    const span: SpanOptions = {
      traceId: hex(16),
      spanId: hex(8),
      name: 'chat',
      startMs: 1_700_000_000_000,
      endMs: 1_700_000_001_000,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 100 },
    }
    await post([span])
    const before = await read(span.traceId!)
    await post([{ ...span, ...change }])
    const after = await read(span.traceId!)

    expect(shown(after)).toEqual(shown(before))
    expect(after.steps[0]!.changes?.flatMap((item) => item.fields.map(({ field }) => field))).toEqual(fields)
  })

  test('an added attribute cannot turn a failure into a success', async () => {
    const [root] = failedRun()
    await post([root])
    await post([{ ...root, attributes: { ...root.attributes, 'playhead.session.end_state': 'Success' } }])
    const { session: summary, steps } = await read(root.traceId!)

    expect(summary.endState).toBe('fail')
    expect(steps[0]!.changes?.[0]?.fields).toEqual([{ field: 'end state', was: 'fail', sent: 'success' }])
  })

  test('the first one wins even if it is sent again after the other, and rows are merged', async () => {
    const [root] = failedRun()
    await post([root])
    await post([{ ...root, status: { code: 1 } }])
    await post([root])
    await merge()
    const { session: summary, steps } = await read(root.traceId!)

    expect([summary.endState, steps[0]!.changes?.length]).toEqual(['fail', 1])
  })

  test('is known after a restart, a new derivation and new prices', async () => {
    const folder = { PLAYHEAD_DATA: await mkdtemp(join(tmpdir(), 'playhead-finished-')) }
    onTestFinished(() => rm(folder.PLAYHEAD_DATA, { recursive: true }))
    let data = await startTestServer(folder)
    const [root] = failedRun()
    await data.postTraces(tracesPayload([root]))
    await data.postTraces(tracesPayload([{ ...root, status: { code: 1 } }]))
    const before = await data.session(root.traceId!)
    await data.request('/api/rederive?all=true', { method: 'POST' }).then((response) => response.text())
    await data.request('/api/reprice', { method: 'POST' }).then((response) => response.text())
    await data.services.store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
    await data.stop()
    data = await startTestServer(folder)
    onTestFinished(() => data.stop())
    const { url: _, ...summary } = (await data.session(root.traceId!)).session

    expect(before.steps[0]!.changes).toHaveLength(1)
    expect({ ...summary, url: before.session.url }).toEqual(before.session)
    expect((await data.session(root.traceId!)).steps).toEqual(before.steps)
  })
})

describe('what is legitimate works in any order', () => {
  const base: SpanOptions = {
    name: 'chat gpt-4o',
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_002_000,
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
  }
  const prompt = `Tell me about ${'x'.repeat(200)}`
  const withPrompt = (text: string) => ({
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]),
  })
  const usage = { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 2 }
  const event = { name: 'exception', timeMs: 1_700_000_001_000, attributes: { 'exception.type': 'Oops' } }
  const cases: [string, SpanOptions[]][] = [
    ['a start and an end', [{ ...base, endMs: undefined! }, base]],
    ['the same bytes twice', [base, base]],
    ['usage that was absent', [base, { ...base, attributes: { ...base.attributes, ...usage } }]],
    [
      'two exporters that each know something',
      [
        { ...base, attributes: { ...base.attributes, ...usage } },
        { ...base, attributes: { ...base.attributes, ...withPrompt(prompt) }, events: [event] },
      ],
    ],
    [
      'a payload that was cut first',
      [
        { ...base, attributes: { ...base.attributes, ...cut(withPrompt(prompt)) } },
        { ...base, attributes: { ...base.attributes, ...withPrompt(prompt) } },
      ],
    ],
  ]

  function cut(attributes: Record<string, string>): Record<string, string> {
    return Object.fromEntries(Object.entries(attributes).map(([key, text]) => [key, text.slice(0, 128)]))
  }

  test.each(cases)('%s', async (_, copies) => {
    const results: unknown[] = []
    for (const ordered of [copies, copies.toReversed()]) {
      const place = { traceId: hex(16), spanId: hex(8) }
      for (const { endMs, ...copy } of ordered)
        await post([{ ...copy, ...place, ...(endMs !== undefined && { endMs }) }])
      const { session: summary, steps } = await read(place.traceId)
      expect(steps.map(({ changes }) => changes)).toEqual([undefined])
      const [{ id: __, ...step }] = steps as [Step]
      results.push({ step, usage: summary.usage, endState: summary.endState })
    }
    expect(results[1]).toEqual(results[0])
  })

  test('what a later copy adds is in the step, its payload and the exported span', async () => {
    const place = { traceId: hex(16), spanId: hex(8) }
    await post([{ ...base, ...place }])
    await post([{ ...base, ...place, attributes: { ...base.attributes, ...usage, ...withPrompt(prompt) } }])
    const { steps, session: summary } = await read(place.traceId)
    const otlp = await server.request(`/api/sessions/${place.traceId}/recording.otlp?project=stays`, {
      headers: bearer(admin),
    })

    expect(summary.usage).toMatchObject({ input: 10, output: 2 })
    expect(steps[0]).toMatchObject({ usage: { input: 10 }, messages: [{ role: 'user' }] })
    expect(await otlp.text()).toContain('gen_ai.usage.input_tokens')
  })
})

describe('a rewrite', () => {
  test('needs the scope "admin", replaces the step, and is noted', async () => {
    const [root] = failedRun()
    await post([root])
    const corrected = { ...root, status: { code: 1 } }
    const rewrite = { 'x-playhead-rewrite': '1' }
    const refused = await post([corrected], { ...bearer(ingest), ...rewrite })
    const before = await read(root.traceId!)
    const accepted = await post([corrected], { ...bearer(admin), ...rewrite })
    await post([root])
    await merge()
    const after = await read(root.traceId!)

    expect([refused.status, refused.body]).toEqual([
      403,
      expect.stringContaining('needs \\"admin\\"') as string,
    ])
    expect([accepted.status, before.session.endState, after.session.endState]).toEqual([
      200,
      'fail',
      'success',
    ])
    expect(after.steps[0]!.changes).toEqual([
      {
        at: expect.any(String) as string,
        isRewrite: true,
        fields: [{ field: 'status', was: 'error', sent: 'ok' }],
      },
    ])
  })
})

test('one statement opens each of these sessions as two do', async () => {
  const { store, reader } = server.services
  const [longId, hugeId] = [hex(16), hex(16)]
  const large = session({ name: 'large', prompt: 'x'.repeat(40_000) })
  const long = Array.from({ length: 121 }, (_, index) => ({ ...large[1]!, spanId: hex(8), name: `${index}` }))
  const { endMs: _, ...running } = large[0]!
  await post([running])
  await post(large)
  await post(session({ traceId: hugeId, name: 'huge', prompt: 'x'.repeat(5_000_000) }))
  await post(
    session({ traceId: hex(16), name: 'long' }).concat(long.map((span) => ({ ...span, traceId: longId }))),
  )
  const response = await server.request('/api/sessions?project=stays&limit=1000', { headers: bearer(admin) })
  const { sessions } = (await response.json()) as { sessions: Session['session'][] }
  expect(sessions.length).toBeGreaterThan(5)
  // Lists know sessions before the store does.
  await server.services.catchUp()
  const limits = { maxRows: 120, largest: 32 * 1024 }
  const copied: number[] = []
  for (const { id } of sessions) {
    const beginning = await readBeginning(store, 'stays', { id, ...limits })
    const twice = await readOutlinesAndCopies(store, 'stays', [id])
    copied.push(twice.copied.length)
    const isShort = ![longId, hugeId].includes(id)
    expect(beginning?.outlines).toEqual(isShort ? twice : undefined)
    reader.invalidate('stays', id)
    const first = await reader.readSession('stays', id, 'first-screen')
    reader.invalidate('stays', id)
    const whole = await reader.readSession('stays', id, 'all')
    expect(first.session).toEqual(whole.session)
    for (const [index, step] of first.steps.entries())
      if (step.hasPayload) expect(step).toEqual(whole.steps[index])
    expect(first.steps.every((step) => step.hasPayload)).toBe(isShort)
  }
  expect(Math.max(...copied)).toBeGreaterThan(0)
})
