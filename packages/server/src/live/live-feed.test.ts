import { expect, test } from 'vitest'
import type { StepOutline } from '@playhead/model'
import type { LiveEvent } from '../api/schemas/responses.ts'
import { LiveFeed, MAX_LIVE_BATCH } from './live-feed.ts'

function outlines(count: number): StepOutline[] {
  return Array.from({ length: count }, (_, index) => ({
    sessionId: 'a'.repeat(32),
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

test('a batch that is too large sends a reset to viewers, also to those that reconnect', () => {
  const feed = new LiveFeed()
  const seen: [id: string, type: LiveEvent['type']][] = []
  const elsewhere: string[] = []
  feed.subscribe({ project: 'p' }, (id, event) => seen.push([id, event.type]))
  feed.subscribe({ project: 'other' }, (id) => elsewhere.push(id))

  feed.publishSteps('p', outlines(1))
  feed.publishSteps('p', outlines(MAX_LIVE_BATCH + 1))

  expect(seen.map(([, type]) => type)).toEqual(['step', 'reset'])
  expect(elsewhere).toEqual([])
  const caughtUp: string[] = []
  feed.subscribe({ project: 'p', lastEventId: seen[0]![0] }, (_, event) => caughtUp.push(event.type))
  expect(caughtUp).toEqual(['reset'])
})
