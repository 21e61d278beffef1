import { expect, test } from 'vitest'
import { NewestSessions, type NewestRow } from './newest-sessions.ts'
import type { ListedSession } from './sessions-table.ts'

const listed = (id: string, { version = 1, bucket = 0, project = 'p' } = {}): ListedSession => ({
  project,
  bucket,
  version,
  isDeleted: false,
  startedAtMs: 1_000 * version,
  lastHeardAtMs: 1_000,
  endState: { isOpen: false, whenSilent: 'success' },
  summary: { id, durationMs: 5 } as ListedSession['summary'],
})

const ids = (newest: NewestSessions, project = 'p') =>
  newest.find(project, { limit: 9, nowMs: 0, isWanted: () => true })?.map((row) => row.session_id)
const nothing = async () => []

async function known(): Promise<NewestSessions> {
  const newest = new NewestSessions()
  await newest.load('p', nothing)
  await newest.load('p', nothing)
  expect(ids(newest)).toEqual([])
  return newest
}

test('a session that is not stored yet stays listed whatever else changes', async () => {
  const newest = await known()
  newest.list([listed('a')])
  expect(ids(newest)).toEqual(['a'])
  newest.forget()
  expect(ids(newest)).toBeUndefined()
  expect(newest.isAhead('p')).toBe(true)
  await newest.load('p', nothing)
  expect(ids(newest)).toEqual(['a'])
  newest.write([listed('a')])
  expect(newest.isAhead('p')).toBe(false)
  expect(newest.settle('p', ['a'])).toBe(false)
  expect(ids(newest)).toEqual(['a'])
})

test('whoever needs memory at once waits for a read that has begun, and reads again if it was in vain', async () => {
  const newest = await known()
  newest.forget()
  newest.list([listed('a')])
  const reads: PromiseWithResolvers<NewestRow[]>[] = []
  const read = () => {
    reads.push(Promise.withResolvers<NewestRow[]>())
    return reads.at(-1)!.promise
  }
  const loads = Promise.all([newest.load('p', read), newest.load('p', read)])
  newest.list([listed('b', { version: 2 })])
  newest.forget()
  newest.list([listed('c', { version: 3 })])
  reads[0]!.resolve([])
  await expect.poll(() => reads.length).toBe(2)
  reads[1]!.resolve([])
  await loads
  expect(ids(newest)).toEqual(['c', 'b', 'a'])
})

test('a row that was listed and is not what was stored in the end makes memory be read again', async () => {
  const newest = await known()
  newest.list([listed('a', { bucket: 7 }), listed('b')])
  newest.write([listed('a', { version: 2, bucket: 8 }), listed('b', { version: 2 })])
  expect(newest.settle('p', ['a', 'b'])).toBe(true)
  expect(newest.isAhead('p')).toBe(false)
})

test('an older row in the store does not settle a newer one', async () => {
  const newest = await known()
  newest.list([listed('a', { version: 2 })])
  newest.write([listed('a', { version: 1 })])
  expect(newest.isAhead('p')).toBe(true)
})
