import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session, Step } from '@playhead/model'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../server/test/test-server.ts'
import { startOtlpSink } from './otlp-sink.ts'
import { finish, runProgram, startProgram, waitForLine } from './run-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

let server: TestServer
/** For steps that a busy machine could not send before the process ended. */
let spool: string

beforeAll(async () => {
  server = await startTestServer()
  spool = await mkdtemp(join(tmpdir(), 'playhead-end-'))
})
afterAll(async () => {
  await server.stop()
  await rm(spool, { recursive: true, force: true })
})
afterEach(() => vi.useRealTimers())

/** The latest session that ended this way, including steps that the next start delivers. */
async function latestSession(end: string): Promise<Session> {
  const files = await readdir(spool, { recursive: true, withFileTypes: true })
  if (files.some((file) => file.isFile())) await finish(start('next start'))
  const latest = (await server.sessions()).find(({ tags }) => tags[0] === end)
  return server.session(latest!.id)
}

const stepNamed = ({ steps }: Session, name: string): Step | undefined =>
  steps.find((step) => step.name === name)

const outline = ({ session, steps }: Session) => ({
  endState: session.endState,
  reason: session.endStateReason,
  steps: steps.map(({ name, status }) => `${name} ${status}`),
})

function start(end: string, environment: Record<string, string> = {}) {
  return startProgram('support-session', {
    args: [end],
    environment: { PLAYHEAD_ENDPOINT: server.url, PLAYHEAD_SPOOL: spool, ...environment },
  })
}

test('a program that ends normally has delivered everything', async () => {
  const outcome = await finish(start('normally'))
  expect([outcome.exitCode, outcome.stderr]).toEqual([0, ''])
  expect(outline(await latestSession('normally'))).toEqual({
    endState: 'success',
    reason: undefined,
    steps: ['support ok', 'classify_intent ok', 'slow_tool ok'],
  })
})

test('so has a program that never ended its session, and its end state is indeterminate', async () => {
  const outcome = await finish(start('forgotten'))
  expect([outcome.exitCode, outcome.stderr]).toEqual([5, ''])
  expect(outline(await latestSession('forgotten'))).toEqual({
    endState: 'indeterminate',
    reason: 'The process ended before the session did',
    steps: ['support ok', 'classify_intent ok', 'slow_tool ok'],
  })
})

test('kill -9: the session is shown as running, and later as lost, in its last step', async () => {
  const child = start('killed')
  await waitForLine(child, 'in the slow tool')
  await vi.waitFor(
    async () => expect(stepNamed(await latestSession('killed'), 'slow_tool')?.status).toBe('running'),
    20_000,
  )
  const ended = finish(child)
  child.kill('SIGKILL')
  await ended
  const session = await latestSession('killed')
  expect(outline(session)).toEqual({
    endState: 'running',
    reason: undefined,
    steps: ['support running', 'classify_intent ok', 'slow_tool running'],
  })
  expect(stepNamed(session, 'slow_tool')!.tool!.arguments).toEqual({ customerId: 'c_42' })

  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + 121_000)
  expect((await server.session(session.session.id)).session.endState).toBe('lost')
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('ends the process in the middle of a step, as without the SDK, and nothing is lost', async () => {
    const child = start('signalled')
    await waitForLine(child, 'in the slow tool')
    const ended = finish(child)
    child.kill(signal)
    const outcome = await ended
    expect([outcome.signal, outcome.exitCode, outcome.stderr]).toEqual([signal, null, ''])
    expect(outline(await latestSession('signalled'))).toEqual({
      endState: 'indeterminate',
      reason: `The process was ended by ${signal}`,
      steps: ['support ok', 'classify_intent ok', 'slow_tool running'],
    })
  })
})

test('a host that handles the signal decides when to exit, and with which code', async () => {
  const child = start('own handler')
  await waitForLine(child, 'in the slow tool')
  const ended = finish(child)
  child.kill('SIGTERM')
  const outcome = await ended
  expect([outcome.exitCode, outcome.signal, outcome.stdout]).toEqual([42, null, 'the host handles it\n'])
  expect(outline(await latestSession('own handler'))).toMatchObject({ endState: 'indeterminate' })
})

test('an uncaught exception fails its session, and is printed as usual', async () => {
  const outcome = await finish(start('throw'))
  expect(outcome.exitCode).toBe(1)
  expect(outcome.stderr).toMatch(/RangeError: nobody catches this\n {4}at .*throwIt/)
  const session = await latestSession('throw')
  expect(outline(session)).toEqual({
    endState: 'fail',
    reason: 'RangeError: nobody catches this',
    steps: ['support error', 'classify_intent ok', 'slow_tool running'],
  })
  expect(stepNamed(session, 'support')!.error).toMatchObject({
    type: 'RangeError',
    message: 'nobody catches this',
  })
})

test('process.exit keeps its code and loses nothing', async () => {
  const outcome = await finish(start('exit'))
  expect([outcome.exitCode, outcome.stderr]).toEqual([3, ''])
  expect(outline(await latestSession('exit'))).toMatchObject({
    endState: 'indeterminate',
    steps: ['support ok', 'classify_intent ok', 'slow_tool running'],
  })
})

test('the next start delivers what could not be delivered', async () => {
  const spool = await temporaryFolder()
  const sink = await startOtlpSink()
  const environment = { PLAYHEAD_ENDPOINT: sink.url, PLAYHEAD_SPOOL: spool }
  await sink.stop()
  const first = await runProgram('support-session', { args: ['normally'], environment })
  expect([first.exitCode, first.stderr]).toEqual([
    0,
    expect.stringMatching(
      /^playhead: No Playhead server responds at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\..*playhead serve.*\n$/,
    ),
  ])
  const again = await startOtlpSink(Number(new URL(sink.url).port))
  const second = await runProgram('support-session', { args: ['normally'], environment })
  expect([second.exitCode, second.stderr]).toEqual([0, ''])
  expect(new Set(again.spans().map(({ traceId }) => traceId)).size).toBe(2)
  expect(again.names().filter((name) => name === 'classify_intent')).toHaveLength(2)
  await again.stop()
})

test('a session that runs across a server restart is complete', async () => {
  const spool = await temporaryFolder()
  const sink = await startOtlpSink()
  const child = startProgram('outliving-session', {
    environment: { PLAYHEAD_ENDPOINT: sink.url, PLAYHEAD_SPOOL: spool },
  })
  await waitForLine(child, 'step 2')
  await sink.stop()
  await waitForLine(child, 'step 6')
  const again = await startOtlpSink(Number(new URL(sink.url).port))
  const outcome = await finish(child)
  expect(outcome.exitCode).toBe(0)
  const all = [...sink.spans(), ...again.spans()].filter(({ isEnded }) => isEnded)
  const steps = new Set(all.map(({ spanId }) => spanId))
  expect(steps.size).toBe(11)
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1)
  await again.stop()
})
