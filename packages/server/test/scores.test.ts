import type { Score, SessionSummary } from '@playhead/model'
import { beforeEach, expect, test } from 'vitest'
import { hex } from './otlp.ts'
import { describeWithEachEngine, HOUR, NOW, session, type ProjectServer } from './project-server.ts'
import { startTestServer } from './test-server.ts'

async function score(api: ProjectServer, id: string, body: unknown): Promise<Response> {
  return api.server.request(`/api/sessions/${id}/scores?project=${api.project}`, { json: body })
}

type Seen = Pick<Score, 'name' | 'value' | 'source'> & Partial<Score>

async function scoresOf(api: ProjectServer, id: string) {
  const read = await api.server.session(id, `project=${api.project}&payloads=none`)
  const all = ((read as { scores?: Score[] }).scores ?? []).map(({ name, value, stepId }) =>
    stepId === undefined ? [name, value] : [name, value, stepId],
  )
  const count = (read.session.scores ?? []).map(({ name, value }: Seen) => [name, value])
  const [row] = await api.server.sessions(`project=${api.project}`)
  const listed = ((row as SessionSummary).scores ?? []).map(({ name, value }) => [name, value])
  return { all, count, listed }
}

describeWithEachEngine((api) => {
  beforeEach(() => api.freshProject())

  test('a score can come before its session, twice, late, and for a step that never comes', async () => {
    const traceId = hex(16)
    const early = { id: 'first', name: 'helpful', value: 0.5, source: 'user', comment: 'slow' }
    expect((await score(api, traceId, early)).status).toBe(201)
    expect(await api.names('')).toEqual([])
    await api.post(session({ traceId }))
    // The id makes it the same score, whatever else is different.
    await score(api, traceId, { ...early, value: 0.9 })
    const only = [['helpful', 0.5]]
    expect(await scoresOf(api, traceId)).toEqual({ all: only, count: only, listed: only })

    await score(api, traceId.slice(0, 12), { name: 'helpful', value: true })
    const ghost = '00000000000000aa'
    await score(api, traceId, { name: 'tone', value: 'rude', stepId: ghost })
    await score(api, traceId, { name: 'helpful', value: 0.1, stepId: ghost })
    const counting = [
      ['helpful', true],
      ['tone', 'rude'],
    ]
    expect(await scoresOf(api, traceId)).toEqual({
      all: [
        ['helpful', 0.1, ghost],
        ['tone', 'rude', ghost],
        ['helpful', true],
        ['helpful', 0.5],
      ],
      count: counting,
      listed: counting,
    })
    // A score is no step, and no sign of life.
    const { session: summary } = await api.server.session(traceId, `project=${api.project}`)
    expect({ stepCount: summary.stepCount, durationMs: summary.durationMs }).toEqual({
      stepCount: 3,
      durationMs: 1_000,
    })
  })

  test('sessions are filtered, sorted and counted by their scores', async () => {
    const ids = new Map<string, string>()
    for (const name of ['a', 'b', 'c', 'd']) {
      ids.set(name, hex(16))
      await api.post(session({ traceId: ids.get(name)!, name, startMs: NOW - 60_000 }))
    }
    const give = (name: string, ...scores: [string, unknown][]) =>
      Promise.all(scores.map(([key, value]) => score(api, ids.get(name)!, { name: key, value })))
    await give('a', ['helpful', 0.2], ['verdict', 'wrong'])
    await give('b', ['helpful', 0.8], ['verdict', 'right'])
    await give('c', ['helpful', true])
    const names = async (query: string) => (await api.names(query)).toSorted().join('')

    expect({
      atLeast: await names('score=helpful%3E%3D0.8'),
      below: await names('score=helpful<0.8'),
      between: await names('score=helpful:0.1..0.3'),
      word: await names('score=verdict=wrong'),
      yes: await names('score=helpful=yes'),
      any: await names('score=verdict'),
      none: await names('score=!verdict'),
      both: await names('score=verdict&score=helpful>0.5'),
      sorted: (await api.names('sort=score:helpful')).join(''),
      ascending: (await api.names('sort=score:helpful&order=asc')).join(''),
    }).toEqual({
      atLeast: 'bc',
      below: 'a',
      between: 'a',
      word: 'a',
      yes: 'c',
      any: 'ab',
      none: 'cd',
      both: 'b',
      sorted: 'cbad',
      ascending: 'abcd',
    })
    const stats = (await api.stats('scoreName=helpful&interval=auto')) as unknown as {
      score: { mean: number }
      buckets: { score: unknown }[]
    }
    expect(stats.score).toEqual({ count: 3, mean: expect.closeTo(2 / 3), words: {} })
    expect(stats.buckets.map((bucket) => bucket.score)).toEqual([stats.score])
    const verdicts = (await api.stats('scoreName=verdict')) as unknown as { score: unknown }
    expect(verdicts.score).toEqual({ count: 2, mean: null, words: { wrong: 1, right: 1 } })
    expect(await api.stats('')).not.toHaveProperty('score')
    const values = await api.server.request(`/api/values?project=${api.project}&field=score`)
    expect(await values.json()).toEqual({
      values: [
        { value: 'helpful', sessions: 3 },
        { value: 'verdict', sessions: 2 },
      ],
    })
    const bad = await api.server.request(`/api/sessions?project=${api.project}&score=%3E3`)
    expect(bad.status).toBe(400)
  })

  test.each(['desc', 'asc'])('of sessions with the same score, the newest come first: %s', async (order) => {
    const user = hex(4)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const [index, name] of names.entries()) {
      const traceId = hex(16)
      await api.post(session({ traceId, name, startMs: NOW - (index + 1) * HOUR, user }))
      await score(api, traceId, { name: 'same', value: 0.5 })
    }

    const seen: string[] = []
    let cursor = ''
    do {
      const response = await api.server.request(
        `/api/sessions?project=${api.project}&user=${user}&sort=score:same&order=${order}&limit=2${cursor}`,
      )
      const page = (await response.json()) as { sessions: { name: string }[]; nextCursor?: string }
      seen.push(...page.sessions.map(({ name }) => name))
      cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`
    } while (cursor !== '')

    expect(seen).toEqual(names)
  })

  test('OpenTelemetry, OpenInference and Langfuse bring scores too', async () => {
    const traceId = hex(16)
    const [root, call] = session({ traceId })
    const result = (name: string, value: number, label?: string) => ({
      'gen_ai.evaluation.name': name,
      'gen_ai.evaluation.score.value': value,
      ...(label !== undefined && { 'gen_ai.evaluation.score.label': label }),
    })
    const spanId = hex(8)
    const responseId = call!.attributes!['gen_ai.response.id']
    const sent = [
      { ...root!, attributes: { ...root!.attributes, 'langfuse.score.accuracy': 0.7 } },
      {
        ...call!,
        spanId,
        attributes: {
          ...call!.attributes,
          'annotations.0.annotation.name': 'toxic',
          'annotations.0.annotation.label': 'no',
          'annotations.0.annotation.annotator_kind': 'LLM',
        },
        events: [{ name: 'gen_ai.evaluation.result', timeMs: NOW - 10, attributes: result('relevance', 4) }],
      },
    ]
    await api.post(sent)
    const logs = {
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                {
                  traceId,
                  timeUnixNano: `${NOW}000000`,
                  eventName: 'gen_ai.evaluation.result',
                  attributes: [
                    ['gen_ai.evaluation.name', { stringValue: 'grounded' }],
                    ['gen_ai.evaluation.score.value', { doubleValue: 1 }],
                    ['gen_ai.evaluation.score.label', { stringValue: 'true' }],
                    ['gen_ai.response.id', { stringValue: responseId }],
                  ].map(([key, value]) => ({ key, value })),
                },
              ],
            },
          ],
        },
      ],
    }
    const posted = await api.server.request('/v1/logs', {
      json: logs,
      headers: { 'x-playhead-project': api.project },
    })
    expect(await posted.text()).toBe('{}')
    // Nobody but the order of time decides which comes first.
    await api.post(sent)

    expect((await scoresOf(api, traceId)).all.map(String).toSorted()).toEqual([
      'accuracy,0.7',
      `grounded,true,${spanId}`,
      `relevance,4,${spanId}`,
      `toxic,no,${spanId}`,
    ])
  })

  test('scores are in recordings and backups, and leave with their session', async () => {
    const traceId = hex(16)
    const spans = session({ traceId }).map((span) => ({ ...span, spanId: span.spanId ?? hex(8) }))
    await api.post(spans)
    await score(api, traceId, { name: 'helpful', value: 1 })
    const recording = await api.server.request(`/api/sessions/${traceId}/recording?project=${api.project}`)
    expect(((await recording.json()) as { scores: Score[] }).scores).toMatchObject([
      { name: 'helpful', value: 1, source: 'code' },
    ])
    const backup = await (await api.server.request('/api/backup')).arrayBuffer()
    await api.server.request(`/api/sessions/${traceId}?project=${api.project}`, { method: 'DELETE' })
    await api.post(spans)
    expect((await scoresOf(api, traceId)).all).toEqual([])

    const restored = await startTestServer()
    try {
      const headers = { 'content-type': 'application/x-tar' }
      const answer = await restored.request('/api/restore', { method: 'POST', body: backup, headers })
      expect(answer.status).toBe(200)
      const [row] = await restored.sessions(`project=${api.project}`)
      expect(row?.scores).toMatchObject([{ name: 'helpful', value: 1 }])
    } finally {
      await restored.stop()
    }
  })

  test('a score that makes no sense is refused, and says why', async () => {
    const traceId = hex(16)
    const statusOf = async (body: unknown, id = traceId) => (await score(api, id, body)).status
    expect({
      noName: await statusOf({ value: 1 }),
      noValue: await statusOf({ name: 'x' }),
      list: await statusOf({ name: 'x', value: [1] }),
      signs: await statusOf({ name: 'a>b', value: 1 }),
      step: await statusOf({ name: 'x', value: 1, stepId: 'root' }),
      source: await statusOf({ name: 'x', value: 1, source: 'robot' }),
      shortId: await statusOf({ name: 'x', value: 1 }, 's_abcdef12'),
      fine: await statusOf({ name: 'x', value: 0 }),
    }).toEqual({
      noName: 400,
      noValue: 400,
      list: 400,
      signs: 400,
      step: 400,
      source: 400,
      shortId: 404,
      fine: 201,
    })
  })
})
