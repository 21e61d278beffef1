import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { AuditEntry } from '../src/api/schemas/audit.ts'
import { responseSchemas } from '../src/api/schemas/responses.ts'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload, type SpanOptions } from './otlp.ts'
import { describeWithEachEngine, NOW, session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

type Edit = { add?: string[]; remove?: string[] }

/** So that a span can be sent again. */
const withId = (span: SpanOptions): SpanOptions => ({ spanId: hex(8), ...span })

async function edit(server: TestServer, id: string, tags: Edit, project = 'default'): Promise<string[]> {
  const path = `/api/sessions/${id}?project=${project}`
  const response = await server.request(path, { method: 'PATCH', json: { tags } })
  const body: unknown = await response.json()
  expect({ status: response.status, body }).toMatchObject({ status: 200 })
  expect(responseSchemas['PATCH /api/sessions/{id}'].parse(body)).toEqual(body)
  return (body as { tags: string[] }).tags
}

describeWithEachEngine((api) => {
  const traceId = hex(16)
  const spans = session({ traceId, name: 'edited', tags: ['sent', 'wrong'] }).map(withId)
  const recordedTags = async () => {
    const response = await api.server.request(`/api/sessions/${traceId}/recording?project=${api.project}`)
    return ((await response.json()) as { session: { tags: string[] } }).session.tags
  }
  /** The tags in the list, on the replay page and in a recording. */
  const shownTags = async () => {
    const [listed] = await api.server.sessions(`project=${api.project}&name=edited`)
    const { session: opened } = await api.server.session(traceId, `project=${api.project}`)
    return [listed?.tags, opened.tags, await recordedTags()]
  }
  const edited = ['sent', 'reviewed']

  beforeAll(async () => {
    await api.freshProject()
    await api.post(spans, session({ name: 'other', tags: ['sent'] }))
  })

  test('edited tags are in the list, the session, recordings, filters, suggestions and statistics', async () => {
    expect(await shownTags()).toEqual([
      ['sent', 'wrong'],
      ['sent', 'wrong'],
      ['sent', 'wrong'],
    ])

    const tags = { add: [' reviewed ', 'sent'], remove: ['wrong', 'never there'] }
    expect(await edit(api.server, traceId.slice(0, 12), tags, api.project)).toEqual(edited)

    expect(await shownTags()).toEqual([edited, edited, edited])
    expect(await api.names('tag=reviewed')).toEqual(['edited'])
    expect(await api.names('tag=wrong')).toEqual([])
    const values = await api.server.request(`/api/values?project=${api.project}&field=tag`)
    expect(await values.json()).toEqual({
      values: [
        { value: 'sent', sessions: 2 },
        { value: 'reviewed', sessions: 1 },
      ],
    })
    const { groups } = await api.stats('groupBy=tag')
    expect(new Map(groups.map(({ key, total }) => [key, total]))).toEqual(
      new Map([
        ['reviewed', 1],
        ['sent', 2],
      ]),
    )
  })

  test('edited tags outlast spans that are sent again and steps that are derived again', async () => {
    await api.post(spans)
    expect(await shownTags()).toEqual([edited, edited, edited])
    const path = `/api/rederive?all=true&project=${api.project}`
    expect(await (await api.server.request(path, { method: 'POST' })).text()).toContain('"steps":6')
    expect(await shownTags()).toEqual([edited, edited, edited])
  })

  test('a removed tag can be added again, and an added one removed', async () => {
    await edit(api.server, traceId, { add: ['wrong'], remove: ['reviewed'] }, api.project)
    expect(await edit(api.server, traceId, { add: ['a'] }, api.project)).toEqual(['sent', 'wrong', 'a'])
    await edit(api.server, traceId, { add: ['reviewed'], remove: ['wrong', 'a'] }, api.project)
    expect(await shownTags()).toEqual([edited, edited, edited])
  })

  test('a backup contains them', async () => {
    const backup = await (await api.server.request('/api/backup')).arrayBuffer()
    const other = await startTestServer()
    onTestFinished(() => other.stop())
    const restore = await other.request('/api/restore', {
      method: 'POST',
      body: backup,
      headers: { 'content-type': 'application/x-tar' },
    })
    const text = await restore.text()
    expect({ status: restore.status, text }).toEqual({ status: 200, text })
    const [restored] = await other.sessions(`project=${api.project}&name=edited`)
    expect(restored?.tags).toEqual(edited)
    expect(await edit(other, traceId, { remove: ['reviewed'] }, api.project)).toEqual(['sent'])
  })

  test('a deleted session takes its edits along', async () => {
    await api.server.request(`/api/sessions/${traceId}?project=${api.project}`, { method: 'DELETE' })
    await api.post(spans)
    expect((await shownTags())[0]).toEqual(['sent', 'wrong'])
  })
})

test('a trace that was tagged keeps its tags when it joins the session of another trace', async () => {
  const server = await startTestServer()
  onTestFinished(() => server.stop())
  const [first, second] = [hex(16), hex(16)]
  const spanId = hex(8)
  const sent = tracesPayload([
    {
      traceId: second,
      startMs: NOW + 10,
      endMs: NOW + 20,
      links: [{ traceId: first, spanId }],
      attributes: { 'langfuse.observation.type': 'agent', 'langfuse.trace.tags': ['second'] },
    },
  ])
  await server.postTraces(sent)
  expect(await edit(server, second, { add: ['mine'], remove: ['second'] })).toEqual(['mine'])

  await server.postTraces(tracesPayload([{ traceId: first, spanId, startMs: NOW, endMs: NOW + 30 }]))

  expect((await server.sessions()).map(({ id, tags }) => [id, tags])).toEqual([[first, ['mine']]])
  expect(await edit(server, second, { remove: ['mine'] })).toEqual([])
  expect((await server.session(first)).session.tags).toEqual([])
})

test('edited tags outlast a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'playhead-tags-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const traceId = hex(16)
  const spans = tracesPayload(session({ traceId, tags: ['sent'] }).map(withId))
  const first = await startTestServer({ PLAYHEAD_DATA: folder })
  await first.postTraces(spans)
  await edit(first, traceId, { add: ['kept'], remove: ['sent'] })
  await first.stop()
  const again = await startTestServer({ PLAYHEAD_DATA: folder })
  onTestFinished(() => again.stop())
  await again.postTraces(spans)
  expect((await again.sessions()).map(({ tags }) => tags)).toEqual([['kept']])
  expect((await again.session(traceId)).session.tags).toEqual(['kept'])
})

let locked: Awaited<ReturnType<typeof startLockedServer>>
beforeAll(async () => {
  locked = await startLockedServer()
})
afterAll(() => locked.server.stop())

test('editing needs what deleting needs, and is in the audit log', async () => {
  const { server, cookie, keys } = locked
  const traceId = hex(16)
  const json = tracesPayload(session({ traceId }))
  await server.request('/v1/traces', { json, headers: bearer(keys.a) })
  const created = await server.request('/api/keys?project=a', {
    json: { name: 'reader', scopes: ['ingest', 'read'] },
    headers: { cookie },
  })
  const { secret } = (await created.json()) as { secret: string }
  const path = `/api/sessions/${traceId}`
  const statusOf = async (headers: Record<string, string>, tags: unknown = { add: ['x'] }, at = path) =>
    (await server.request(at, { method: 'PATCH', json: { tags }, headers })).status

  expect({
    nobody: await statusOf({}),
    reader: await statusOf(bearer(secret)),
    otherProject: await statusOf(bearer(keys.b)),
    unknownSession: await statusOf(bearer(keys.a), { add: ['x'] }, `/api/sessions/${hex(16)}`),
    nothing: await statusOf(bearer(keys.a), {}),
    empty: await statusOf(bearer(keys.a), { add: [' '] }),
    both: await statusOf(bearer(keys.a), { add: ['x'], remove: ['x '] }),
    tooLong: await statusOf(bearer(keys.a), { add: ['x'.repeat(201)] }),
    admin: await statusOf(bearer(keys.a), { add: ['x', 'y'], remove: ['z'] }),
  }).toEqual({
    nobody: 401,
    reader: 403,
    otherProject: 404,
    unknownSession: 404,
    nothing: 400,
    empty: 400,
    both: 400,
    tooLong: 400,
    admin: 200,
  })
  const response = await server.request('/api/audit?action=sessions.tagged', { headers: { cookie } })
  const { entries } = (await response.json()) as { entries: AuditEntry[] }
  expect(entries.map(({ project, subject, detail }) => [project, subject, detail])).toEqual([
    ['a', traceId, 'added x, y; removed z'],
  ])
})
