import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Store } from '../store/connect.ts'
import { FreshSessions, type FreshRow } from './fresh-sessions.ts'
import { KnownSessions } from './known-sessions.ts'

const id = () => randomBytes(16).toString('hex')

function row(session_id: string, step_id: string, changes: Partial<FreshRow> = {}): FreshRow {
  return {
    session_id,
    step_id,
    parent_id: '',
    scope_name: '',
    outline: '{"kind":"llm","status":"ok"}',
    started_us: 1,
    ended_us: 2,
    cost: null,
    cost_source: '',
    received_ms: 3,
    version: 1,
    arrival: 1,
    is_finished: true,
    ...changes,
  }
}

/** A store that has these sessions, for `readKnown`. */
function storeWith(ids: readonly string[]): Pick<Store, 'client'> {
  const bytes = Buffer.from(ids.map((one) => one.slice(0, 16)).join(''), 'hex')
  return { client: { exec: async () => ({ stream: [bytes] }) } } as unknown as Pick<Store, 'client'>
}

async function freshWith(...stored: string[]): Promise<FreshSessions> {
  const fresh = new FreshSessions()
  await fresh.readKnown(storeWith(stored))
  return fresh
}

test('a session that the store has never seen is fresh, with all its rows', async () => {
  const [stored, begun] = [id(), id()]
  const fresh = await freshWith(stored)
  fresh.note('p', [row(begun, 'a'), row(stored, 'b'), row(begun, 'c')])

  expect(fresh.find('p', begun)?.rows.map(({ step_id }) => step_id)).toEqual(['a', 'c'])
  expect(fresh.find('p', stored)).toBeUndefined()
  expect(fresh.find('other', begun)).toBeUndefined()
})

test('before it has read what is stored, no session is fresh, and none that arrived meanwhile becomes so', async () => {
  const fresh = new FreshSessions()
  const early = id()
  fresh.note('p', [row(early, 'a')])
  await fresh.readKnown(storeWith([]))
  fresh.note('p', [row(early, 'b')])

  expect(fresh.find('p', early)).toBeUndefined()
})

test('a forgotten session is read from the store from then on', async () => {
  const fresh = await freshWith()
  const [forgotten, deleted] = [id(), id()]
  fresh.note('p', [row(forgotten, 'a'), row(deleted, 'a')])
  fresh.forget('p', [forgotten])
  fresh.forgetAll()
  fresh.note('p', [row(forgotten, 'b'), row(deleted, 'b')])

  expect(fresh.find('p', forgotten)).toBeUndefined()
  expect(fresh.find('p', deleted)).toBeUndefined()
})

test('the end of a step replaces its start; a second end has to be joined from the payloads', async () => {
  const fresh = await freshWith()
  const session = id()
  const start = row(session, 'a', { is_finished: false, arrival: 0, version: 1 })
  fresh.note('p', [row(session, 'a', { version: 2 }), start])
  expect(fresh.find('p', session)?.rows).toEqual([row(session, 'a', { version: 2 })])

  fresh.note('p', [row(session, 'a', { arrival: 2, version: 2 })])
  expect(fresh.find('p', session)).toBeUndefined()
})

test('a very long session is not kept in memory', async () => {
  const fresh = await freshWith()
  const session = id()
  fresh.note(
    'p',
    Array.from({ length: 2_001 }, (_, index) => row(session, String(index))),
  )
  expect(fresh.find('p', session)).toBeUndefined()
})

test('a known session is never taken for a new one, and few new ones for known', () => {
  const known = new KnownSessions()
  const bytes = randomBytes(8 * 200_000)
  known.addStored(bytes)
  const stored = Array.from({ length: 20_000 }, (_, index) =>
    bytes.toString('hex', index * 80, index * 80 + 8).padEnd(32, '0'),
  )
  expect(stored.every((one) => known.checkAndAdd(one))).toBe(true)
  expect(Array.from({ length: 5_000 }, id).filter((one) => known.checkAndAdd(one)).length).toBeLessThan(25)
})
