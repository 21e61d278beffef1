import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spansToOtlpJson, type Session, type Span } from '@playhead/model'
import type { LiveEvent } from '../src/api/schemas/responses.ts'
import { emitterRuns, sessionsOfSpans, spansOfRun } from './emitters.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { describeWithEachEngine } from './project-server.ts'
import { seededRandom } from './seeded-random.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** AutoGen begins a trace for each message of a run and links it to the step that sent the message. */
const run = emitterRuns().find(({ emitter, variant }) => emitter === 'autogen' && variant === 'multi')!
/** To the microsecond, as the store reads them. */
const spans = spansOfRun(run).map((span) => ({
  ...span,
  startNs: (span.startNs / 1000n) * 1000n,
  endNs: (span.endNs! / 1000n) * 1000n,
}))
const [, , first, second] = sessionsOfSpans(spans) as [Session, Session, Session, Session]
const firstIds = new Set(first.steps.map(({ id }) => id))
const traceIds = [
  ...new Set(spans.filter(({ spanId }) => firstIds.has(spanId)).map(({ traceId }) => traceId)),
]

type Api = { server: TestServer; project: string }

async function send({ server, project }: Api, some: readonly Span[]): Promise<void> {
  const response = await server.request('/v1/traces', {
    json: spansToOtlpJson([...some]),
    headers: { 'x-playhead-project': project },
  })
  expect(await response.text()).toBe('{}')
}

async function read({ server, project }: Api, path: string): Promise<unknown> {
  const response = await server.request(`/api/${path}${path.includes('?') ? '&' : '?'}project=${project}`)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function listed(api: Api, query = ''): Promise<string[]> {
  const sessions = await api.server.sessions(`project=${api.project}&limit=1000&${query}`)
  return sessions.map(({ id }) => id).sort()
}

async function readWhole(api: Api, id: string): Promise<Session> {
  const { session, steps } = (await read(api, `sessions/${id}?payloads=all`)) as Session
  delete session.url
  return { session, steps }
}

const expectedIds = sessionsOfSpans(spans)
  .map(({ session }) => session.id)
  .sort()

describeWithEachEngine((api) => {
  beforeAll(async () => {
    await api.freshProject()
    await send(api, spans)
  })

  test('the traces of an AutoGen run are one session in lists and statistics', async () => {
    expect(traceIds).toHaveLength(14)
    expect(await listed(api)).toEqual(expectedIds)
    expect((await api.stats('')).total).toBe(4)
    expect((await api.stats('groupBy=model')).groups).toMatchObject([{ total: 2, calls: 6 }])
  })

  test('each of its traces opens it, by id or prefix', async () => {
    for (const id of traceIds) expect((await readWhole(api, id)).session.id).toBe(first.session.id)
    const whole = await readWhole(api, traceIds.at(-1)!.slice(0, 10))
    expect(whole).toEqual(first)
    expect(await readWhole(api, second.session.id)).toEqual(second)
    const action = first.steps.find(({ kind }) => kind === 'action')!
    expect(await read(api, `sessions/${traceIds[3]}/steps/${action.id}`)).toEqual(action)
  })

  test('in SQL and in exports, the steps of all its traces belong to it', async () => {
    const ids = spans.filter(({ traceId }) => traceIds.includes(traceId)).map(({ spanId }) => spanId)
    const run = async (sql: string) => {
      const path = `/api/query?project=${api.project}`
      const response = await api.server.request(path, {
        json: { sql: sql.replace('$id', `'${first.session.id}'`) },
      })
      const { rows, ...rest } = (await response.json()) as { rows: unknown[][] }
      if (rows === undefined) throw new Error(JSON.stringify(rest))
      return rows
    }
    const own = await run('SELECT id FROM steps WHERE session_id = $id ORDER BY id')
    expect(own.flat()).toEqual(ids.toSorted())
    expect(
      await run(
        `SELECT s.name, count() FROM steps AS t JOIN sessions AS s ON t.session_id = s.id WHERE s.id = $id GROUP BY s.name`,
      ),
    ).toEqual([[first.session.name, ids.length]])
    expect(await run('SELECT uniqExact(session_id), count() FROM steps')).toEqual([[4, spans.length]])

    const exported = await api.server.request(`/api/export?project=${api.project}&of=steps&format=jsonl`)
    const rows = (await exported.text()).trimEnd().split('\n')
    const owners = rows.map((line) => JSON.parse(line) as { id: string; session_id: string })
    expect(owners).toHaveLength(spans.length)
    const exportedIds = owners.filter((row) => row.session_id === first.session.id)
    expect(exportedIds.map(({ id }) => id).sort()).toEqual(ids.toSorted())
  })

  test('a search finds it by the text of any of its traces', async () => {
    expect(await listed(api, 'text=Rome')).toEqual([second.session.id])
  })

  test('its export contains the spans of all its traces', async () => {
    const { resourceSpans } = (await read(api, `sessions/${first.session.id}/recording.otlp`)) as {
      resourceSpans: { scopeSpans: { spans: { spanId: string }[] }[] }[]
    }
    const exported = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    expect(new Set(exported.map(({ spanId }) => spanId))).toEqual(firstIds)
  })

  test('the decision graph contains the steps of all its traces', async () => {
    const { variants } = (await read(api, 'graph?of=steps')) as { variants: object[] }
    const model = 'llm gpt-4o-mini-2024-07-18'
    expect(variants).toMatchObject([
      {
        sessions: 2,
        path: ['agent weather_agent', model, 'action get_weather', model, 'agent critic', model],
      },
      { sessions: 1 },
      { sessions: 1 },
    ])
    const { sessions } = (await read(api, 'graph/sessions?node=action%20get_weather')) as {
      sessions: { id: string }[]
    }
    expect(sessions.map(({ id }) => id)).toEqual([second.session.id, first.session.id])
  })

  test('deleting it by any of its traces deletes all of them', async () => {
    const response = await api.server.request(`/api/sessions/${traceIds[5]}?project=${api.project}`, {
      method: 'DELETE',
    })
    expect(await response.json()).toEqual({ deleted: first.session.id })
    expect(await listed(api)).toEqual(expectedIds.filter((id) => id !== first.session.id))
    for (const id of traceIds) await expect(readWhole(api, id)).rejects.toThrow('SESSION_NOT_FOUND')
    expect(await readWhole(api, second.session.id)).toEqual(second)
  })
})

describe('with one server', () => {
  let server: TestServer
  let projects = 0
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())

  async function freshProject(): Promise<Api> {
    const project = `p${(projects += 1)}`
    await server.services.registry.createProject({ id: project, name: project })
    return { server, project }
  }

  const random = seededRandom(14)
  const shuffled = spans
    .map((span) => ({ span, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ span }) => span)

  test.each([
    ['last one first', spans.toReversed(), 30],
    ['in any order', shuffled, 15],
  ])('the sessions are the same if the spans arrive %s', async (_, ordered, size) => {
    const api = await freshProject()
    for (let start = 0; start < ordered.length; start += size) {
      await send(api, ordered.slice(start, start + size))
      await listed(api)
    }
    expect(await listed(api)).toEqual(expectedIds)
    expect(await readWhole(api, traceIds[7]!)).toEqual(first)
    expect(await readWhole(api, second.session.id)).toEqual(second)
    const sessions = await server.sessions(`project=${api.project}`)
    for (const session of sessions) delete session.url
    expect(sessions.find(({ id }) => id === first.session.id)).toEqual(first.session)
  })

  test('a lost record of what was joined is derived again from the steps', async () => {
    const api = await freshProject()
    await send(api, spans)
    await listed(api)
    await server.services.store.client.command({
      query: 'DELETE FROM joined_traces WHERE project = {project:String}',
      query_params: { project: api.project },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    })
    const batch = await server.request(`/api/rederive?all=true&project=${api.project}`, { method: 'POST' })
    expect(await batch.text()).toContain('"sessions":4')
    expect(await listed(api)).toEqual(expectedIds)
    expect(await readWhole(api, first.session.id)).toEqual(first)
  })

  test('a turn that links to the turn before is a session of its own, in the same thread', async () => {
    const api = await freshProject()
    const turn = (startMs: number, links: SpanOptions['links'] = []): SpanOptions => ({
      traceId: hex(16),
      spanId: hex(8),
      startMs,
      endMs: startMs + 1_000,
      links,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'c1' },
    })
    const before = turn(1_760_000_000_000)
    const after = turn(1_760_000_001_200, [{ traceId: before.traceId!, spanId: before.spanId! }])
    await server.request('/v1/traces', {
      json: tracesPayload([after, before]),
      headers: { 'x-playhead-project': api.project },
    })
    expect(await listed(api, 'thread=c1')).toEqual([before.traceId!, after.traceId!].sort())
  })

  test('viewers of the session get the steps of its other traces', async () => {
    const api = await freshProject()
    const begin = spans.slice(0, 30)
    const later = spans.slice(30).filter(({ spanId }) => firstIds.has(spanId))
    await send(api, begin)
    await listed(api)
    const controller = new AbortController()
    const response = await server.request(`/api/sessions/${traceIds[3]}/live?project=${api.project}`, {
      signal: controller.signal,
    })
    const events = readEvents(response)
    await send(api, later)
    await listed(api)
    // Steps of joined traces come as they arrive. A trace joins when its root arrives, and then viewers read everything again.
    const stepIds = new Set<string>()
    let [isReset, isComplete] = [false, false]
    for await (const event of events) {
      if (event.type === 'reset') isReset = true
      if (event.type === 'step') stepIds.add(event.step.id)
      if (event.type !== 'reset') expect(event.sessionId).toBe(first.session.id)
      if (event.type === 'session') isComplete = event.session.stepCount === first.session.stepCount
      if (isReset && isComplete) break
    }
    controller.abort()
    const roots = begin.filter(({ parentSpanId }) => parentSpanId === null)
    const known = new Set(roots.map(({ traceId }) => traceId))
    expect(stepIds).toEqual(
      new Set(later.filter(({ traceId }) => known.has(traceId)).map(({ spanId }) => spanId)),
    )
  })
})

test('a run that goes on after a restart is still one session, also when it is restored from a backup', async () => {
  const environment = { PLAYHEAD_DATA: await temporaryFolder() }
  const before = await startTestServer(environment)
  await send({ server: before, project: 'default' }, spans.slice(0, 25))
  await before.stop()
  const after = await startTestServer(environment)
  const api = { server: after, project: 'default' }
  await send(api, spans.slice(25))
  expect(await listed(api)).toEqual(expectedIds)
  expect(await readWhole(api, traceIds[1]!)).toEqual(first)

  const backup = await (await after.request('/api/backup')).arrayBuffer()
  await after.stop()
  const restored = { server: await startTestServer(), project: 'default' }
  const response = await restored.server.request('/api/restore', {
    method: 'POST',
    body: backup,
    headers: { 'content-type': 'application/x-tar' },
  })
  expect(response.status).toBe(200)
  expect(await listed(restored)).toEqual(expectedIds)
  expect(await readWhole(restored, traceIds[1]!)).toEqual(first)
  await restored.server.stop()
})

async function* readEvents(response: Response): AsyncGenerator<LiveEvent, void> {
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const [, type, data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(block) ?? []
      if (type !== undefined) yield { ...(JSON.parse(data) as object), type } as LiveEvent
    }
  }
}
