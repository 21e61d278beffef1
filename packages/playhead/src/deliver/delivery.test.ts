import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as playhead from '../index.ts'
import { startOtlpSink, type OtlpSink } from '../../test/otlp-sink.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'

/** A sink that the SDK sends to, with a spool of its own. */
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
  const counts = () => {
    const { recorded, delivered, spooled: onDisk, dropped, rejected, queued, server } = playhead.stats()
    return {
      recorded: recorded - before.recorded,
      delivered: delivered - before.delivered,
      spooled: onDisk - before.spooled,
      dropped: dropped - before.dropped,
      rejected: rejected - before.rejected,
      queued,
      server,
    }
  }
  return { sink, spool, counts }
}

type Prepared = {
  sink: OtlpSink
  spool: string
  /** What was counted since. */
  counts: () => Pick<
    playhead.Stats,
    'recorded' | 'delivered' | 'spooled' | 'dropped' | 'rejected' | 'queued' | 'server'
  >
}

const act = playhead.recordAction('act', (text: string) => text)
const spooled = async (spool: string) =>
  (await readdir(spool, { recursive: true })).filter((name) => name.endsWith('.json')).length

async function eventually(isDone: () => boolean | Promise<boolean>, withinMs = 8000): Promise<void> {
  const until = Date.now() + withinMs
  while (!(await isDone())) {
    if (Date.now() > until) throw new Error('It did not happen in time.')
    await sleep(10)
  }
}

test('steps arrive by themselves, in one request, with the key', async () => {
  const { sink, counts } = await prepare({ apiKey: 'ph_key' })
  playhead.withSession({ name: 's' }, () => ['a', 'b', 'c'].map((text) => act(text)))
  await eventually(() => sink.spans().length === 4)
  expect(sink.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer ph_key'])
  expect(sink.names().toSorted()).toEqual(['act', 'act', 'act', 's'])
  await eventually(() => counts().delivered > 0)
  expect(counts()).toMatchObject({ recorded: 4, delivered: 4, queued: 0, server: 'up' })
  expect(playhead.stats().faults).toBe(0)
})

test('flush waits until everything is there', async () => {
  const { sink } = await prepare()
  playhead.withSession(() => Array.from({ length: 1200 }, (_, index) => act(String(index))))
  expect(await playhead.flush()).toBe(true)
  expect(sink.spans()).toHaveLength(1201)
  expect(sink.requests.length).toBeGreaterThan(1)
})

test('a step that runs for long is announced, and a short one is not', async () => {
  const { sink } = await prepare()
  const slow = playhead.recordAction('slow', async () => {
    act('short')
    await sleep(800)
  })
  await playhead.withSession({ name: 'long' }, slow)
  await playhead.flush()
  expect(sink.spans().map(({ name, isEnded }) => [name, isEnded])).toEqual(
    expect.arrayContaining([
      ['long', false],
      ['slow', false],
      ['act', true],
      ['slow', true],
      ['long', true],
    ]),
  )
  expect(sink.spans().filter(({ name }) => name === 'act')).toHaveLength(1)
  const running = sink.spans().find(({ name, isEnded }) => name === 'slow' && !isEnded)!
  expect(running.attributes).toMatchObject({ 'playhead.step.kind': 'action' })
})

test('a server that is busy is asked again, when it said, and nothing is lost', async () => {
  const { sink } = await prepare()
  sink.behaviour = { status: 503, headers: { 'retry-after': '1' }, body: { message: 'busy' } }
  act('first')
  await eventually(() => sink.askedCount > 0)
  const askedAt = Date.now()
  sink.behaviour = 'accept'
  act('second')
  await eventually(() => sink.spans().length === 2)
  expect(Date.now() - askedAt).toBeGreaterThan(900)
  expect(sink.requests.length).toBeGreaterThanOrEqual(1)
})

test.each<[string, OtlpSink['behaviour']]>([
  ['answers 500', { status: 500 }],
  ['closes the connection in the middle of the request', 'cut while receiving'],
  ['closes it in the middle of the answer', 'cut while answering'],
  ['refuses the key', { status: 401, body: { message: 'no such key' } }],
  ['is another program', { status: 404 }],
])('when the server %s, steps wait on disk and arrive later', async (_, behaviour) => {
  const { sink, spool, counts } = await prepare()
  sink.behaviour = behaviour
  playhead.withSession(() => act('kept'))
  expect(await playhead.flush()).toBe(false)
  expect([await spooled(spool), counts()]).toMatchObject([1, { spooled: 2, server: 'down' }])
  sink.behaviour = 'accept'
  expect(await playhead.flush()).toBe(true)
  expect(sink.names()).toEqual(['act', 'session'])
  expect([await spooled(spool), counts()]).toMatchObject([0, { delivered: 2, queued: 0, server: 'up' }])
})

test('what an earlier process left behind is sent by the next start', async () => {
  const { sink, spool } = await prepare()
  sink.behaviour = { status: 500 }
  act('left behind')
  await playhead.shutdown()
  expect(await spooled(spool)).toBe(1)
  sink.behaviour = 'accept'
  playhead.init({ endpoint: sink.url, capture: false, silent: true })
  await eventually(() => sink.spans().length === 1)
  await eventually(async () => (await spooled(spool)) === 0)
})

test('a request that is too large is split; a step that is too large is left out and counted', async () => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 413 }
  playhead.withSession(() => ['a', 'b', 'c'].map((text) => act(text)))
  await playhead.flush()
  expect([sink.askedCount, counts().dropped]).toEqual([7, 4])
})

test('what the server can not read is counted and not sent again', async () => {
  const { sink, counts } = await prepare()
  sink.behaviour = { status: 400, body: { message: 'not OTLP' } }
  act('bad')
  expect(await playhead.flush()).toBe(true)
  sink.behaviour = {
    status: 200,
    body: { partialSuccess: { rejectedSpans: 1, errorMessage: 'no trace id' } },
  }
  act('half')
  await playhead.flush()
  expect(counts()).toMatchObject({ rejected: 2, dropped: 0 })
})

test('without a disk, steps wait in memory within bounds', async () => {
  vi.stubEnv('PLAYHEAD_SPOOL', 'off')
  const sink = await startOtlpSink()
  sink.behaviour = { status: 500 }
  vi.stubEnv('PLAYHEAD_SPOOL', 'off')
  playhead.init({ endpoint: sink.url, capture: false, silent: true })
  const before = playhead.stats()
  for (let index = 0; index < 9000; index += 1) act('x')
  await playhead.flush({ timeoutMs: 300 })
  const after = playhead.stats()
  expect(after.dropped - before.dropped).toBeGreaterThan(0)
  expect(after.queued).toBeLessThanOrEqual(8192 + 512)
  sink.behaviour = 'accept'
  expect(await playhead.flush()).toBe(true)
  expect(sink.spans().length + (after.dropped - before.dropped)).toBe(9000)
  await sink.stop()
  vi.unstubAllEnvs()
})

test('a server that never answers does not hold up whoever waits', async () => {
  const { sink } = await prepare()
  sink.behaviour = 'never answer'
  act('waiting')
  const before = performance.now()
  expect(await playhead.flush({ timeoutMs: 200 })).toBe(false)
  expect(performance.now() - before).toBeLessThan(2000)
  await sink.stop()
})

test('large requests over the network are compressed', async () => {
  const { sink } = await prepare()
  act('x'.repeat(2 * 1024 * 1024))
  await playhead.flush()
  expect(sink.requests[0]!.headers['content-encoding']).toBe('gzip')
})
