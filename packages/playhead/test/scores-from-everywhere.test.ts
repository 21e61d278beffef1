import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hex, tracesPayload } from '../../server/test/otlp.ts'
import { session } from '../../server/test/project-server.ts'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'
import * as playhead from '../src/index.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  playhead.init({ endpoint: server.url, capture: false, serviceName: 'scored' })
})
afterAll(async () => {
  await playhead.shutdown()
  await server.stop()
})

const client = fileURLToPath(new URL('../../../clients/python/src', import.meta.url))
const program = `
import playhead
playhead.init()
session = playhead.start_session(tags=["scored"])
session.score("helpful", 0.1)
playhead.end_session("Success")
session.score("tone", "rude", source="user", comment="it shouted", id="twice")
session.score("tone", "kind", id="twice")
assert playhead.flush()
print("id", session.id)
`

async function scoreInPython(): Promise<string> {
  const child = spawn(process.env.PLAYHEAD_PYTHON ?? 'python3', ['-c', program], {
    env: { PATH: process.env.PATH, PYTHONPATH: client, PLAYHEAD_ENDPOINT: server.url, PLAYHEAD_SPOOL: 'off' },
  })
  const [output, problem] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(problem)
  return /^id (\w+)$/m.exec(output)![1]!
}

/** Scores of the same name from the API and from spans of other instrumentations. */
async function scoreElsewhere(id: string): Promise<void> {
  const nowMs = Date.now()
  const result = { 'gen_ai.evaluation.name': 'helpful', 'gen_ai.evaluation.score.value': 0.4 }
  const annotation = { name: 'helpful', score: 0.5, annotator_kind: 'LLM' }
  const [span] = session({ traceId: id, startMs: nowMs })
  await server.postTraces(
    tracesPayload([
      {
        ...span!,
        parentSpanId: hex(8),
        events: [{ name: 'gen_ai.evaluation.result', timeMs: nowMs, attributes: result }],
        attributes: {
          ...Object.fromEntries(
            Object.entries(annotation).map(([key, value]) => [`annotations.0.annotation.${key}`, value]),
          ),
          'langfuse.score.helpful': 0.6,
        },
      },
    ]),
  )
  const json = { name: 'helpful', value: 0.7, source: 'person' }
  expect((await server.request(`/api/sessions/${id}/scores`, { json })).status).toBe(201)
}

/** All scores of a session, and those that its list shows. */
async function scoresOf(id: string) {
  const read = await server.session(id)
  const listed = (await server.sessions('score=helpful')).find((row) => row.id === id)?.scores ?? []
  const show = (scores: readonly { name: string; value: unknown }[]) =>
    scores.map(({ name, value }) => `${name} ${String(value)}`).toSorted()
  return { all: show(read.scores ?? []), listed: show(listed) }
}

const elsewhere = ['helpful 0.4', 'helpful 0.5', 'helpful 0.6', 'helpful 0.7']

test('scores of TypeScript, of the API and of OpenTelemetry, OpenInference and Langfuse are one list', async () => {
  const live = await playhead.withSession({ name: 'scored' }, async (view) => {
    view.score('helpful', 0.1)
    return view
  })
  live.score('tone', 'rude', { source: 'user', comment: 'it shouted', id: 'twice' })
  live.score('tone', 'kind', { id: 'twice' })
  await playhead.flush()
  await scoreElsewhere(live.id)
  await vi.waitFor(async () =>
    expect(await scoresOf(live.id)).toEqual({
      all: ['helpful 0.1', ...elsewhere, 'tone rude'],
      listed: ['helpful 0.7', 'tone rude'],
    }),
  )
})

test('scores of Python are in the same list', async () => {
  const id = await scoreInPython()
  await scoreElsewhere(id)
  await vi.waitFor(async () =>
    expect(await scoresOf(id)).toEqual({
      all: ['helpful 0.1', ...elsewhere, 'tone rude'],
      listed: ['helpful 0.7', 'tone rude'],
    }),
  )
})
