import type { SessionSummary } from '@playhead/model'
import { expect, test } from 'vitest'
import type { Store } from '../store/connect.ts'
import { SessionChanges } from '../store/session-changes.ts'
import { cachePage } from './page-cache.ts'

type CachedStore = Pick<Store, 'engine' | 'sessions'>

function embedded(): CachedStore {
  return { engine: {} as NonNullable<Store['engine']>, sessions: new SessionChanges() }
}

function reader(endState: SessionSummary['endState'] = 'success') {
  const counted = {
    reads: 0,
    read: async () => {
      counted.reads += 1
      return { sessions: [{ id: String(counted.reads), endState } as SessionSummary] }
    },
  }
  return counted
}

test('a page is read once until a session changes', async () => {
  const [store, counted] = [embedded(), reader()]
  const ask = (key: string) => cachePage(store, key, counted.read)
  expect([await ask('a'), await ask('a')].map(({ sessions }) => sessions[0]!.id)).toEqual(['1', '1'])
  await ask('b')
  store.sessions.revision += 1
  expect((await ask('a')).sessions[0]!.id).toBe('3')
})

test('a page that was read while a session changed is read again', async () => {
  const [store, counted] = [embedded(), reader()]
  await cachePage(store, 'a', async () => {
    const page = await counted.read()
    store.sessions.revision += 1
    return page
  })
  await cachePage(store, 'a', counted.read)
  expect(counted.reads).toBe(2)
})

test('a page with a running session, and one of a ClickHouse server, is always read', async () => {
  for (const [store, counted] of [
    [embedded(), reader('running')],
    [{ ...embedded(), engine: undefined }, reader()],
  ] as const) {
    await cachePage(store, 'a', counted.read)
    await cachePage(store, 'a', counted.read)
    expect(counted.reads).toBe(2)
  }
})
