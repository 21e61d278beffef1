import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { trace } from '@opentelemetry/api'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as playhead from '../index.ts'
import { startOtlpSink, type OtlpSink } from '../../test/otlp-sink.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'

type Counts = Omit<playhead.Stats, 'faults' | 'capturedCalls' | 'failedCaptures'>

type Prepared = {
  sink: OtlpSink
  spool: string
  /** What was counted since the test started. */
  counts: () => Counts
}

/** Starts a sink and points the SDK at it, with an empty spool. */
async function prepare(options: playhead.InitOptions = {}): Promise<Prepared> {
  const before = playhead.stats()
  const sink = await startOtlpSink()
  const spool = await temporaryFolder()
  vi.stubEnv('PLAYHEAD_SPOOL', spool)
  playhead.init({ endpoint: sink.url, capture: false, silent: true, ...options })
  onTestFinished(async () => {
    await playhead.shutdown({ timeoutMs: 100 })
    await sink.stop()
    vi.unstubAllEnvs()
  })
  // The check for spooled steps that every start makes.
  await playhead.flush()
  const counts = () => {
    const { recorded, delivered, spooled, dropped, rejected, failedRequests, queued, server } =
      playhead.stats()
    return {
      recorded: recorded - before.recorded,
      delivered: delivered - before.delivered,
      spooled: spooled - before.spooled,
      dropped: dropped - before.dropped,
      rejected: rejected - before.rejected,
      failedRequests: failedRequests - before.failedRequests,
      queued,
      server,
    }
  }
  return { sink, spool, counts }
}

/** Stops the clock of the SDK. Requests still happen in real time. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - performance.timeOrigin)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
}

/** Waits for requests and files, while the clock is stopped. */
async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await nextTurn()
}

const act = playhead.recordAction('act', (text: string) => text)
const filesIn = async (spool: string) =>
  (await readdir(spool, { recursive: true })).filter((name) => name.endsWith('.otlp')).length

test('steps are sent automatically, in one request, with the key', async () => {
  const { sink, counts } = await prepare({ apiKey: 'ph_key' })
  stopClock()
  playhead.withSession({ name: 's' }, () => ['a', 'b', 'c'].map((text) => act(text)))
  await vi.advanceTimersByTimeAsync(300)
  await until(() => counts().delivered > 0)
  expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer ph_key'])
  expect(sink.names()).toEqual(['act', 'act', 'act', 's'])
  expect(counts()).toMatchObject({ recorded: 4, delivered: 4, queued: 0, server: 'up' })
  expect(playhead.stats().faults).toBe(0)
})

test('flush waits until everything is delivered', async () => {
  const { sink } = await prepare()
  playhead.withSession(() => Array.from({ length: 1200 }, (_, index) => act(String(index))))
  expect(await playhead.flush()).toBe(true)
  expect(sink.requests.map(({ spans }) => spans.length)).toEqual([512, 512, 177])
})

test('sessions that end shortly after one another are sent together', async () => {
  const { sink } = await prepare()
  const startedAtMs = performance.now()
  for (let index = 0; index < 60; index += 1) {
    playhead.withSession(() => act(String(index)))
    await sleep(2)
  }
  await until(() => sink.names().length === 120)
  const elapsedMs = performance.now() - startedAtMs
  expect(sink.requestCount).toBeLessThan(2 + elapsedMs / 50)
})

test('a long step is announced while it runs, a short one is sent once', async () => {
  const { sink } = await prepare()
  stopClock()
  const { promise: work, resolve: finishWork } = Promise.withResolvers<void>()
  const slow = playhead.recordAction('slow', async () => {
    act('short')
    await work
  })
  const session = playhead.withSession({ name: 'long' }, slow)
  await vi.advanceTimersByTimeAsync(300)
  await until(() => playhead.stats().queued === 0)
  await vi.advanceTimersByTimeAsync(400)
  await until(() => sink.spans().length === 3)
  finishWork()
  await session
  await playhead.flush()
  const received = sink.spans().map(({ name, isEnded }) => `${name} ${isEnded ? 'ended' : 'running'}`)
  expect(received.slice(0, 3).toSorted()).toEqual(['act ended', 'long running', 'slow running'])
  expect(received.slice(3)).toEqual(['slow ended', 'long ended'])
  expect(sink.spans().find(({ name }) => name === 'slow')!.attributes).toMatchObject({
    'playhead.step.kind': 'action',
  })
})

test('a busy server is asked again after the time in Retry-After, and nothing is lost', async () => {
  const { sink, counts } = await prepare()
  stopClock()
  sink.behaviour = { status: 503, headers: { 'retry-after': '1' }, body: { message: 'busy' } }
  act('first')
  await vi.advanceTimersByTimeAsync(300)
  await until(() => counts().failedRequests === 1)
  sink.behaviour = 'accept'
  act('second')
  await vi.advanceTimersByTimeAsync(999)
  for (let turn = 0; turn < 100; turn += 1) await nextTurn()
  expect(sink.requestCount).toBe(1)
  // Up to 250 ms of jitter.
  await vi.advanceTimersByTimeAsync(251)
  await until(() => counts().delivered === 2)
  expect(sink.requests.map(({ spans }) => spans.map(argumentsOf))).toEqual([
    ['{"text":"first"}'],
    ['{"text":"second"}'],
  ])
})

const argumentsOf = ({ attributes }: { attributes: Record<string, unknown> }) =>
  attributes['playhead.action.arguments']

test.each<[string, OtlpSink['behaviour']]>([
  ['responds with 500', { status: 500 }],
  ['closes the connection during the request', 'close while receiving'],
  ['closes the connection during the response', 'close while responding'],
  ['refuses the key', { status: 401, body: { message: 'no such key' } }],
  ['is another program', { status: 404 }],
  [
    'is a login page',
    { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Log in to the Wi-Fi</html>' },
  ],
  ['answers with JSON of its own', { status: 200, body: { login: 'required' } }],
])('if the server %s, steps are spooled and delivered later', async (_, behaviour) => {
  const { sink, spool, counts } = await prepare()
  sink.behaviour = behaviour
  playhead.withSession(() => act('kept'))
  expect(await playhead.flush()).toBe(false)
  expect([await filesIn(spool), counts()]).toMatchObject([1, { spooled: 2, server: 'down' }])
  sink.behaviour = 'accept'
  expect(await playhead.flush()).toBe(true)
  expect(sink.names()).toEqual(['act', 'session'])
  expect([await filesIn(spool), counts()]).toMatchObject([0, { delivered: 2, queued: 0, server: 'up' }])
})

test('the next start sends what an earlier process left behind', async () => {
  const { sink, spool } = await prepare()
  sink.behaviour = { status: 500 }
  act('left behind')
  await playhead.shutdown()
  expect(await filesIn(spool)).toBe(1)
  sink.behaviour = 'accept'
  stopClock()
  playhead.init({ endpoint: sink.url, capture: false, silent: true })
  await vi.advanceTimersByTimeAsync(100)
  await until(async () => (await filesIn(spool)) === 0 && sink.requests.length > 0)
  expect(sink.spans().map(argumentsOf)).toEqual(['{"text":"left behind"}'])
})

test('a request that is too large is split; a step that is too large is dropped and counted', async () => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 413 }
  playhead.withSession(() => ['a', 'b', 'c'].map((text) => act(text)))
  await playhead.flush()
  expect([sink.requestCount, counts().dropped]).toEqual([7, 4])
})

test('if one half of a request that was too large fails, the other half is not lost', async () => {
  const { sink, counts } = await prepare()
  sink.next = [{ status: 413 }, { status: 500 }]
  playhead.withSession(() => ['a', 'b', 'c'].map((text) => act(text)))
  expect(await playhead.flush()).toBe(false)
  expect(await playhead.flush()).toBe(true)
  expect(counts()).toMatchObject({ recorded: 4, delivered: 4, dropped: 0, queued: 0 })
  expect(sink.names().toSorted()).toEqual(['act', 'act', 'act', 'session'])
})

test('flush does not say that all is delivered while spooled steps are still being sent', async () => {
  const { sink, spool } = await prepare()
  sink.behaviour = { status: 500 }
  for (const text of ['first', 'second']) {
    act(text)
    expect(await playhead.flush()).toBe(false)
  }
  expect(await filesIn(spool)).toBe(2)
  sink.next = ['accept']
  sink.behaviour = 'never respond'
  stopClock()
  const before = sink.requestCount
  const flushed = playhead.flush({ timeoutMs: 200 })
  await until(() => sink.requestCount === before + 2)
  await vi.advanceTimersByTimeAsync(200)
  expect(await flushed).toBe(false)
})

test('steps that the server rejects are counted and not sent again', async () => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 400, body: { message: 'not OTLP' } }
  act('bad')
  expect(await playhead.flush()).toBe(false)
  sink.behaviour = {
    status: 200,
    body: { partialSuccess: { rejectedSpans: 1, errorMessage: 'no trace id' } },
  }
  act('half')
  expect(await playhead.flush()).toBe(false)
  expect([sink.requestCount, counts()]).toMatchObject([2, { rejected: 2, dropped: 0 }])
})

test('without a spool, a limited number of steps is kept in memory', async () => {
  vi.stubEnv('PLAYHEAD_SPOOL', 'off')
  const sink = await startOtlpSink()
  sink.behaviour = { status: 500 }
  playhead.init({ endpoint: sink.url, capture: false, silent: true })
  const before = playhead.stats()
  for (let index = 0; index < 9000; index += 1) act('x')
  expect(await playhead.flush()).toBe(false)
  const { dropped, queued } = playhead.stats()
  // Once there are more than 8192, the oldest are dropped until 7680 are left.
  expect([dropped - before.dropped, queued]).toEqual([1026, 7974])
  sink.behaviour = 'accept'
  expect(await playhead.flush()).toBe(true)
  expect(sink.spans()).toHaveLength(7974)
  await sink.stop()
  vi.unstubAllEnvs()
})

test('flush gives up after its timeout if the server never responds', async () => {
  const { sink } = await prepare()
  stopClock()
  sink.behaviour = 'never respond'
  act('waiting')
  const flushed = playhead.flush({ timeoutMs: 200 })
  await until(() => sink.requestCount === 1)
  await vi.advanceTimersByTimeAsync(200)
  expect(await flushed).toBe(false)
})

test('large requests are compressed', async () => {
  const { sink } = await prepare()
  act('x'.repeat(2 * 1024 * 1024))
  await playhead.flush()
  // On a busy machine a small request that announces the running step goes first.
  expect(sink.requests.map(({ headers }) => headers['content-encoding'])).toContain('gzip')
})

test('names that are no text cost nothing but themselves', async () => {
  const { sink, counts } = await prepare()
  const withBadNames = () => {
    // @ts-expect-error a name must be text
    playhead.recordAction(42, () => 'x')()
    // @ts-expect-error a name must be text
    playhead.record(new playhead.ActionEvent({ actionType: 43 }))
    act('innocent')
  }
  // @ts-expect-error a name must be text
  playhead.withSession({ name: 4711, tags: ['a', 5] }, withBadNames)
  expect(await playhead.flush()).toBe(true)
  expect(sink.names()).toEqual(['42', '43', 'act', '4711'])
  expect(counts()).toMatchObject({ recorded: 4, delivered: 4, dropped: 0 })
})

test('a step that can not be encoded is dropped and counted, and flush says so once', async () => {
  const { sink, counts } = await prepare()
  playhead.withSession({ name: 'host' }, () => {
    const broken = trace.getTracer('host').startSpan('broken')
    Object.defineProperty(broken, 'status', { value: undefined })
    broken.end()
    act('innocent')
  })
  expect(await playhead.flush()).toBe(false)
  expect(sink.names()).toEqual(['act', 'host'])
  expect(counts()).toMatchObject({ recorded: 3, delivered: 2, dropped: 1, queued: 0 })
  act('next')
  expect(await playhead.flush()).toBe(true)
})

test('the queue holds a limited number of bytes; the oldest steps are dropped', async () => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 500 }
  // Each is estimated at 2 MB and more, because a character may take two bytes.
  for (let index = 0; index < 40; index += 1) act(`${index} ${'x'.repeat(1_000_000)}`)
  const { dropped, queued } = counts()
  expect([dropped > 5, dropped + queued]).toEqual([true, 40])
  sink.behaviour = 'accept'
  expect(await playhead.flush()).toBe(false)
  // A flush ends after a while, and these are many megabytes.
  await expect.poll(() => playhead.flush().then(() => counts().queued)).toBe(0)
  const numbers = sink.spans().map((span) => Number(/\d+/.exec(String(argumentsOf(span)))![0]))
  expect([...new Set(numbers)]).toEqual(Array.from({ length: queued }, (_, index) => dropped + index))
})

test.each<[string, Record<string, string>, unknown]>([
  ['an empty JSON message', { 'content-type': 'application/json' }, {}],
  ['a partial success', { 'content-type': 'application/json; charset=utf-8' }, { partialSuccess: {} }],
  ['an empty message of protobuf', { 'content-type': 'application/x-protobuf' }, undefined],
  ['an empty body', {}, undefined],
])('%s counts as delivered', async (_, headers, body) => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 200, headers, body: body ?? '' }
  act('sent')
  expect(await playhead.flush()).toBe(true)
  expect(counts()).toMatchObject({ delivered: 1, spooled: 0, server: 'up' })
})
