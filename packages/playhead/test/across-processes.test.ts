import { get } from 'node:http'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as playhead from '../src/index.ts'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'
import { startBillingService } from './billing-service.ts'
import { finish, startProgram } from './run-program.ts'

let server: TestServer
let service: Awaited<ReturnType<typeof startBillingService>>

beforeAll(async () => {
  server = await startTestServer()
  playhead.init({ endpoint: server.url, capture: false, serviceName: 'agent' })
  service = await startBillingService({ PLAYHEAD_ENDPOINT: server.url })
})
afterAll(async () => {
  await playhead.shutdown()
  await service.stop()
  await server.stop()
})

type Answer = { headers: Record<string, string>; session: string }

const ask = async (path: string) => (await fetch(service.url + path)).json() as Promise<Answer>
const askOverHttp = (path: string) =>
  new Promise<Answer>((resolve, reject) => {
    get(service.url + path, (response) =>
      json(response).then((answer) => resolve(answer as Answer), reject),
    ).on('error', reject)
  })

/** The session on the server, once it has so many steps. */
async function sessionWith(id: string, stepCount: number) {
  await playhead.flush()
  const readSession = async () => {
    const session = await server.session(id)
    expect(session.steps.length).toBeGreaterThanOrEqual(stepCount)
    return session
  }
  return vi.waitFor(readSession, { timeout: 60_000, interval: 20 })
}

test('requests carry the session, so the steps of another process are part of it', async () => {
  const lookUp = playhead.recordAction('look_up', async () => [
    await ask('/?id=c_1'),
    await askOverHttp('/?id=c_2'),
  ])
  const [session, answers] = await playhead.withSession(
    { name: 'across' },
    async (view) => [view, await lookUp()] as const,
  )

  expect(answers.map((answer) => answer.session)).toEqual([session.id, session.id])
  const { session: summary, steps } = await sessionWith(session.id, 4)
  expect(steps.map(({ name, kind, status }) => [name, kind, status])).toEqual([
    ['across', 'workflow', 'ok'],
    ['look_up', 'action', 'ok'],
    ['find_invoices', 'action', 'ok'],
    ['find_invoices', 'action', 'ok'],
  ])
  const caller = steps[1]!
  expect(steps.slice(2).map(({ parentId }) => parentId)).toEqual([caller.id, caller.id])
  expect(summary).toMatchObject({ name: 'across', endState: 'success' })
})

test('a session that is started there becomes a part of this one', async () => {
  const session = await playhead.withSession({ name: 'caller' }, async (view) => {
    await ask('/agent')
    return view
  })
  const { session: summary, steps } = await sessionWith(session.id, 3)
  expect(steps.map(({ name }) => name)).toEqual(['caller', 'billing agent', 'find_invoices'])
  expect(summary).toMatchObject({ name: 'caller', endState: 'success' })
})

test('requests outside of a session carry nothing, and their work is a session of its own', async () => {
  const [first, second] = [await ask('/?id=alone'), await ask('/?id=alone')]
  expect([first.headers.traceparent, first.headers.baggage]).toEqual([undefined, undefined])
  expect(first.session).not.toBe(second.session)
})

test('a reused connection does not carry the previous session', async () => {
  await playhead.withSession(() => ask('/?id=inside'))
  const outside = await ask('/?id=outside')
  expect((await sessionWith(outside.session, 1)).steps.map(({ name }) => name)).toEqual(['find_invoices'])
})

test('hosts on the internet get no headers, unless configured', async () => {
  const { isInOwnNetwork } = await import('../src/record/session/propagate-over-http.ts')
  const own = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '10.1.2.3',
    '192.168.0.7',
    '172.20.0.2',
    'billing',
    'db.internal',
  ]
  const others = ['api.openai.com', '8.8.8.8', '172.40.0.1', '[2606:4700::1]']
  expect([...own, ...others].map(isInOwnNetwork)).toEqual([
    ...own.map(() => true),
    ...others.map(() => false),
  ])
  playhead.init({ endpoint: server.url, capture: false, propagate: false })
  const { headers } = await playhead.withSession(() => ask('/?id=c_3'))
  expect(headers.traceparent).toBeUndefined()
  playhead.init({ endpoint: server.url, capture: false, serviceName: 'agent' })
})

test('a child process continues the session that its environment names', async () => {
  const session = await playhead.withSession({ name: 'parent process' }, async (view) => {
    const environment = { PLAYHEAD_ENDPOINT: server.url, ...playhead.sessionEnvironment() }
    const outcome = await finish(startProgram('child-tool', { environment: environment }))
    expect([outcome.exitCode, outcome.stderr]).toEqual([0, ''])
    return view
  })
  const { steps } = await sessionWith(session.id, 3)
  expect(steps.map(({ name }) => name)).toEqual(['parent process', 'child tool', 'in_the_child'])
})

test('headers for other transports', () => {
  expect(playhead.sessionHeaders()).toEqual({})
  playhead.withSession((session) => {
    expect(playhead.sessionHeaders()).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${session.id}-[0-9a-f]{16}-01$`)) as string,
      baggage: `playhead.session=${session.id}`,
    })
  })
})
