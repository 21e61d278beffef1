import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Store } from '../store/connect.ts'
import { bareOutline, bareSpan } from '../store/test/sample-steps.ts'
import { toStepRow } from '../store/steps-table.ts'
import { FreshRows, type FreshPart } from './fresh-rows.ts'
import { FreshSessions } from './fresh-sessions.ts'
import { KnownSessions } from './known-sessions.ts'

const id = () => randomBytes(16).toString('hex')

type Row = { session: string; step: string; arrival?: number; isOpen?: boolean }

function encode(rows: readonly Row[]): FreshPart[] {
  const fresh = new FreshRows()
  for (const { session, step, arrival = 1, isOpen = false } of rows)
    fresh.add(
      toStepRow(
        'p',
        { ...bareSpan, traceId: session, spanId: step, endNs: isOpen ? null : 1_760_000_001_000_000_000n },
        bareOutline,
        {
          receivedAtMs: 3,
          arrival,
          derivation: { normalizerVersion: 1, priceRevision: 1 },
          resource: '{}',
        },
      ),
    )
  return fresh.end()
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
  fresh.note(
    'p',
    encode([
      { session: begun, step: 'a' },
      { session: stored, step: 'b' },
      { session: begun, step: 'c' },
    ]),
  )

  expect(fresh.find('p', begun)?.rows.map(({ step_id }) => step_id)).toEqual(['a', 'c'])
  expect(fresh.find('p', stored)).toBeUndefined()
  expect(fresh.find('other', begun)).toBeUndefined()
})

test('before it has read what is stored, no session is fresh, and none that arrived meanwhile becomes so', async () => {
  const fresh = new FreshSessions()
  const early = id()
  fresh.note('p', encode([{ session: early, step: 'a' }]))
  await fresh.readKnown(storeWith([]))
  fresh.note('p', encode([{ session: early, step: 'b' }]))

  expect(fresh.find('p', early)).toBeUndefined()
})

test('a forgotten session is read from the store from then on', async () => {
  const fresh = await freshWith()
  const [forgotten, deleted] = [id(), id()]
  fresh.note(
    'p',
    encode([
      { session: forgotten, step: 'a' },
      { session: deleted, step: 'a' },
    ]),
  )
  fresh.forget('p', [forgotten])
  fresh.forgetAll()
  fresh.note(
    'p',
    encode([
      { session: forgotten, step: 'b' },
      { session: deleted, step: 'b' },
    ]),
  )

  expect(fresh.find('p', forgotten)).toBeUndefined()
  expect(fresh.find('p', deleted)).toBeUndefined()
})

test('the end of a step replaces its start; a second end has to be joined from the payloads', async () => {
  const fresh = await freshWith()
  const session = id()
  const [end, start] = [
    { session, step: 'a' },
    { session, step: 'a', arrival: 0, isOpen: true },
  ]
  fresh.note('p', encode([end, start]))
  expect(fresh.find('p', session)?.rows).toMatchObject([{ step_id: 'a', is_finished: true, arrival: 1 }])

  fresh.note('p', encode([{ ...end, arrival: 2 }]))
  expect(fresh.find('p', session)).toBeUndefined()
})

test('a very long session is not kept in memory', async () => {
  const fresh = await freshWith()
  const session = id()
  const steps = Array.from({ length: 2_001 }, (_, index) => ({ session, step: String(index) }))
  fresh.note('p', encode(steps.slice(0, 2_000)))
  expect(fresh.find('p', session)?.rows).toHaveLength(2_000)
  fresh.note('p', encode(steps.slice(2_000)))
  expect(fresh.find('p', session)).toBeUndefined()
})

test('the oldest sessions are forgotten first', async () => {
  const fresh = await freshWith()
  const sessions = Array.from({ length: 91 }, id)
  for (const session of sessions)
    fresh.note('p', encode(Array.from({ length: 1_000 }, (_, index) => ({ session, step: String(index) }))))

  expect(sessions.map((session) => fresh.find('p', session) !== undefined)).toEqual(
    sessions.map((_, index) => index > 0),
  )
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
