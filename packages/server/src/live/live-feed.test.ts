import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { StepOutline } from '@playhead/model'
import { LiveFeed, MAX_LIVE_BATCH, type LiveScope } from './live-feed.ts'

function outlines(count: number, sessionId = 'a'.repeat(32)): StepOutline[] {
  return Array.from({ length: count }, (_, index) => ({
    sessionId,
    id: String(index),
    parentId: null,
    isParentRemote: false,
    startedAtMs: index,
    endedAtMs: null,
    kind: 'other',
    name: 'step',
    dialect: 'generic',
    status: 'running',
  }))
}

/** A viewer that notes what it gets, and stops reading when told to. */
function watch(feed: LiveFeed, scope: LiveScope & { lastEventId?: string }) {
  const viewer = { chunks: [] as Buffer[], isReading: true }
  const actions = feed.subscribe(scope, (chunk) => {
    viewer.chunks.push(chunk)
    return viewer.isReading
  })
  const text = () => Buffer.concat(viewer.chunks).toString()
  return Object.assign(viewer, actions, {
    types: () => [...text().matchAll(/^event: (\w+)$/gm)].map(([, type]) => type),
    ids: () => [...text().matchAll(/^id: (.*)$/gm)].map(([, id]) => id!),
  })
}

test('a batch that is too large sends a reset to viewers, also to those that reconnect', async () => {
  const feed = new LiveFeed()
  const viewer = watch(feed, { project: 'p' })
  const elsewhere = watch(feed, { project: 'other' })

  feed.publishSteps('p', outlines(1))
  feed.publishSteps('p', outlines(MAX_LIVE_BATCH + 1))

  await expect.poll(viewer.types).toEqual(['step', 'reset'])
  expect(elsewhere.types()).toEqual([])
  const again = watch(feed, { project: 'p', lastEventId: viewer.ids()[0]! })
  await expect.poll(again.types).toEqual(['reset'])
})

test('publishing writes to nobody before the sender is answered, and encodes once for all', async () => {
  const feed = new LiveFeed()
  const viewers = Array.from({ length: 500 }, () => watch(feed, { project: 'p' }))
  await nextTurn()

  feed.publishSteps('p', outlines(100))
  await Promise.resolve()
  expect(viewers.flatMap(({ chunks }) => chunks)).toEqual([])

  await expect.poll(() => viewers.every(({ chunks }) => chunks.length === 1)).toBe(true)
  expect(new Set(viewers.map(({ chunks }) => chunks[0]))).toHaveLength(1)
  expect(viewers[0]!.types()).toHaveLength(100)
})

test('a viewer that does not read holds one chunk; it gets the rest when it reads, or a reset if it missed some', async () => {
  const feed = new LiveFeed()
  const [slow, deaf, normal] = [1, 2, 3].map(() => watch(feed, { project: 'p' })) as [
    ReturnType<typeof watch>,
    ReturnType<typeof watch>,
    ReturnType<typeof watch>,
  ]
  slow.isReading = deaf.isReading = false
  feed.publishSteps('p', outlines(10))
  await expect.poll(() => normal.types().length).toBe(10)
  feed.publishSteps('p', outlines(10))
  await expect.poll(() => normal.types().length).toBe(20)
  expect([slow.chunks.length, deaf.chunks.length]).toEqual([1, 1])

  slow.isReading = true
  slow.resume()
  await expect.poll(() => slow.ids()).toEqual(normal.ids())

  for (let batch = 0; batch < 3; batch++) feed.publishSteps('p', outlines(MAX_LIVE_BATCH))
  await expect.poll(() => slow.types().includes('reset') || slow.types().length === 15_020).toBe(true)
  deaf.isReading = true
  deaf.resume()
  await expect.poll(() => deaf.types().at(-1)).toBe('reset')
  expect(deaf.types()).toHaveLength(11)
})

test('viewers of one session, of summaries and of the project each get what they asked for, in order', async () => {
  const feed = new LiveFeed()
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)]
  const all = watch(feed, { project: 'p' })
  const one = watch(feed, { project: 'p', sessionId: b })
  const summaries = watch(feed, { project: 'p', only: 'session' })
  feed.publishSteps('p', outlines(2, a))
  feed.publishSteps('p', outlines(1, b))
  feed.publishSession('p', { id: b } as Parameters<LiveFeed['publishSession']>[1])

  await expect.poll(all.types).toEqual(['step', 'step', 'step', 'session'])
  await expect.poll(one.types).toEqual(['step', 'session'])
  await expect.poll(summaries.types).toEqual(['session'])
  expect(all.ids()).toEqual([...all.ids()].sort())
})

test('nothing is kept for nobody: who comes back after a minute reads everything again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const feed = new LiveFeed()
  const viewer = watch(feed, { project: 'p' })
  feed.publishSteps('p', outlines(1))
  await expect.poll(viewer.types).toEqual(['step'])
  viewer.end()
  feed.publishSteps('p', outlines(1))
  const [lastEventId] = viewer.ids() as [string]
  const soon = watch(feed, { project: 'p', lastEventId })
  await expect.poll(soon.types).toEqual(['step'])
  soon.end()
  vi.advanceTimersByTime(61_000)
  feed.publishSteps('p', outlines(1))
  const late = watch(feed, { project: 'p', lastEventId })
  await expect.poll(late.types).toEqual(['reset'])
  vi.useRealTimers()
})

test('an id from before a restart gets a reset; an ended viewer gets nothing', async () => {
  const feed = new LiveFeed()
  const old = watch(feed, { project: 'p', lastEventId: 'earlier-5' })
  await expect.poll(old.types).toEqual(['reset'])
  old.end()
  expect(feed.viewerCount).toBe(0)
  feed.publishSteps('p', outlines(1))
  const current = watch(feed, { project: 'p' })
  feed.publishSteps('p', outlines(1))
  await expect.poll(current.types).toEqual(['step'])
  expect(old.types()).toEqual(['reset'])
})
