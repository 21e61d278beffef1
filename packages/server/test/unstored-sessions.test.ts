import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { NOW, ProjectServer, session } from './project-server.ts'
import { SpawnedServer } from './spawned-server.ts'
import { startTestServer } from './test-server.ts'

const api = new ProjectServer()

beforeAll(async () => {
  api.server = await startTestServer()
})
afterAll(() => api.server.stop())

/** Lists of a project that somebody looks at are answered from memory. */
async function look(): Promise<void> {
  await api.freshProject()
  await api.post(session({ name: 'earlier', startMs: NOW - 1_000 }))
  const { newest } = api.server.services.store.sessions
  const question = { limit: 1, nowMs: NOW, isWanted: () => true }
  await expect.poll(() => api.names('').then(() => newest.find(api.project, question))).toBeDefined()
  await api.server.services.drain()
}

/** The engine takes nothing in from here on. Returns how it goes on. */
function stopEngine(): () => void {
  const { engine } = api.server.services.store
  const pid = engine!.pid!
  process.kill(pid, 'SIGSTOP')
  const go = () => void (engine!.pid === pid && process.kill(pid, 'SIGCONT'))
  onTestFinished(go)
  return go
}

const get = async (path: string) => {
  const response = await api.server.request(path)
  return { status: response.status, body: await response.json() }
}

test('a session is listed and opened, payloads included, before the store has it, as it is afterwards', async () => {
  await look()
  const go = stopEngine()
  const traceId = hex(16)
  await api.post(session({ name: 'new', traceId, startMs: NOW, error: 'card declined', user: 'ann' }))
  const questions = ['', 'payloads=none', 'payloads=all', 'long=skeleton'].map(
    (query) => `/api/sessions/${traceId}?project=${api.project}&${query}`,
  )
  questions.push(
    `/api/sessions?project=${api.project}&user=ann`,
    `/api/sessions?project=${api.project}&limit=1`,
  )
  const ask = () => Promise.all(questions.map(get))
  const before = await ask()
  expect(api.server.services.store.sessions.newest.isAhead(api.project)).toBe(true)
  expect(before.map(({ status }) => status)).toEqual(questions.map(() => 200))
  expect(before[0]!.body).toMatchObject({
    steps: [{ hasPayload: true }, { hasPayload: true }, { hasPayload: true }],
  })

  go()
  await api.server.services.drain()
  expect(api.server.services.store.sessions.newest.isAhead(api.project)).toBe(false)
  api.server.services.reader.forgetAll()
  api.server.services.store.sessions.changed()
  expect(await ask()).toEqual(before)
})

test('more steps of a session that the store has are shown before it has them', async () => {
  await look()
  const traceId = hex(16)
  const [root, ...others] = session({ name: 'grows', traceId, startMs: NOW })
  await api.post([root!])
  await api.server.services.drain()
  await api.names('')
  const go = stopEngine()
  await api.post(others)
  expect((await api.server.sessions(`project=${api.project}`))[0]).toMatchObject({
    name: 'grows',
    stepCount: 3,
  })
  const path = `/api/sessions/${traceId}?project=${api.project}`
  expect((await get(`${path}&payloads=none`)).body).toMatchObject({ session: { stepCount: 3 } })
  // Some of its payloads are in the store.
  const opened = get(path)
  expect(await Promise.race([opened, pause(300, 'waits')])).toBe('waits')
  go()
  expect((await opened).body).toMatchObject({
    steps: [{ hasPayload: true }, { hasPayload: true }, { hasPayload: true }],
  })
})

test('what the store has to answer waits until the store has the session', async () => {
  await look()
  const go = stopEngine()
  await api.post(session({ name: 'new', startMs: NOW, prompt: 'ultramarine' }))
  expect(await api.names('')).toEqual(['new', 'earlier'])
  const questions = ['text=ultramarine', 'cost=>0', 'sort=cost&limit=1'].map((query) => api.names(query))
  expect(await Promise.race([...questions, pause(300, 'waits')])).toBe('waits')
  go()
  const [found, , costly] = await Promise.all(questions)
  expect(found).toEqual(['new'])
  expect(costly).toHaveLength(1)
})

test('a session that was listed stays listed if the engine is killed before it has it', async () => {
  await look()
  const { engine } = api.server.services.store
  const { restarts } = engine!
  stopEngine()
  const traceId = hex(16)
  await api.post(session({ name: 'new', traceId, startMs: NOW }))
  expect(await api.names('')).toEqual(['new', 'earlier'])
  process.kill(engine!.pid!, 'SIGKILL')
  const deadline = Date.now() + 30_000
  const { drain } = api.server.services
  let isStored = false
  while (!isStored && Date.now() < deadline) {
    const { status, body } = await get(`/api/sessions?project=${api.project}`)
    if (status !== 200) expect(status).toBe(503)
    else
      expect((body as { sessions: { name: string }[] }).sessions.map(({ name }) => name)).toEqual([
        'new',
        'earlier',
      ])
    const opened = await get(`/api/sessions/${traceId}?project=${api.project}`)
    expect([200, 503]).toContain(opened.status)
    isStored =
      engine!.restarts > restarts &&
      (await drain().then(
        () => true,
        () => false,
      ))
  }
  expect(isStored).toBe(true)
  api.server.services.store.sessions.changed()
  expect(await api.names('')).toEqual(['new', 'earlier'])
})

test('a session that was listed is there after the server was killed before the store had it', async () => {
  const server = await SpawnedServer.forThisTest()
  await server.start()
  const post = async (name: string) => {
    const response = await server.request('/v1/traces', {
      method: 'POST',
      body: JSON.stringify(tracesPayload(session({ name, startMs: NOW }))),
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
    await response.arrayBuffer()
  }
  const names = async () => {
    const { sessions } = (await (await server.request('/api/sessions')).json()) as {
      sessions: { name: string }[]
    }
    return sessions.map(({ name }) => name)
  }
  await post('first')
  // Memory answers soon: it reads a project in the background when somebody asks for the second time.
  for (let asked = 0; asked < 10; asked++) {
    expect(await names()).toEqual(['first'])
    await pause(50)
  }
  const engine = server.enginePid()!
  process.kill(engine, 'SIGSTOP')
  await post('second')
  expect((await names()).toSorted()).toEqual(['first', 'second'])
  await server.end('SIGKILL')
  process.kill(engine, 'SIGKILL')
  await server.start()
  expect((await names()).toSorted()).toEqual(['first', 'second'])
})
