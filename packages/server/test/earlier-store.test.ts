import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { Session, SessionSummary } from '@playhead/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** A store of an earlier version, and what that version answered (`fixtures/README.md`). */
const stores = new URL('../../../fixtures/stores/', import.meta.url)
type Answers = { sessions: SessionSummary[]; opened: Record<string, Session> }

let folder: string
let server: TestServer
let answers: Answers

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-earlier-'))
  const archive = new URL('schema-10.tar.gz', stores)
  await promisify(execFile)('tar', ['xzf', archive.pathname, '-C', folder])
  answers = JSON.parse(
    gunzipSync(await readFile(new URL('schema-10.answers.json.gz', stores))).toString(),
  ) as Answers
  server = await startTestServer({ PLAYHEAD_DATA: folder })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

/** Without the address, which is another server's. */
function withoutUrls<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (key, part: unknown) => (key === 'url' ? undefined : part)),
  ) as Value
}

test('its sessions are listed as before', async () => {
  expect(withoutUrls(await server.sessions())).toEqual(withoutUrls(answers.sessions))
})

test('its sessions open as before, payloads included', async () => {
  const opened = await Promise.all(Object.keys(answers.opened).map((id) => server.session(id)))
  expect(withoutUrls(opened)).toEqual(withoutUrls(Object.values(answers.opened)))
})

/** For each session, whether a search for the name of its first step finds it. */
async function searchEach(): Promise<boolean[]> {
  return Promise.all(
    answers.sessions.map(async ({ id }) => {
      const [step] = answers.opened[id]?.steps ?? []
      if (step === undefined) return true
      const found = await server.sessions(`limit=1000&text=${encodeURIComponent(step.name)}`)
      return found.some((session) => session.id === id)
    }),
  )
}

test('its sessions are found by their words, before and after those are collected', async () => {
  const { store, words } = server.services
  expect(await searchEach()).not.toContain(false)
  await words.build()
  expect(store.words.isBacklogDone).toBe(true)
  expect(await searchEach()).not.toContain(false)
})

test('new spans join a session of an earlier version, in the list and when it is opened', async () => {
  const { id, stepCount } = answers.sessions.find((session) => session.stepCount > 3)!
  await server.postTraces(
    tracesPayload([
      { traceId: id, spanId: hex(8), name: 'added', startMs: Date.now() - 5, endMs: Date.now() },
    ]),
  )

  const { session, steps } = await server.session(id)
  expect(steps.map(({ name }) => name)).toContain('added')
  expect(session.stepCount).toBe(stepCount + 1)
  expect((await server.sessions()).find((listed) => listed.id === id)?.stepCount).toBe(stepCount + 1)
})

test('nothing in it is reported as damaged', () => {
  expect(server.reports).toEqual([])
})
