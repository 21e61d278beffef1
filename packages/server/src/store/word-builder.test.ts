import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deleteSessions } from '../maintenance/delete-sessions.ts'
import { findByText } from '../query/text-search.ts'
import { connectStore, type Store } from './connect.ts'
import { WordBuilder, type StepsLog } from './word-builder.ts'

const SECOND_SERVER = 2 ** 33

let directory: string
let store: Store
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playhead-words-'))
  store = await connectStore({ path: directory, report: () => undefined })
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

type Said = { session: string; said: string; segment: number; receivedAt?: string }

async function insertSteps(steps: readonly Said[]): Promise<void> {
  const rows = steps.map(
    ({ session, said, segment, receivedAt = '2026-11-18 10:00:00' }, index) =>
      `('p', '${session}', '${segment}-${index}', ${segment}, '${receivedAt}', '2026-11-18 09:00:00', 'chat', '${said}')`,
  )
  await store.client.command({
    query: `INSERT INTO steps (project, session_id, step_id, segment, received_at, started_at, name, attributes) VALUES ${rows.join(', ')}`,
  })
}

async function build(pendingIds: StepsLog['pendingIds'] = []): Promise<string[]> {
  const reports: string[] = []
  const nodes = { isLeader: () => true, isShared: false }
  const builder = new WordBuilder({ store, nodes, report: (line) => reports.push(line) })
  const cleanups: (() => unknown)[] = []
  builder.start({ pendingIds, isBusy: false }, cleanups)
  await builder.build()
  for (const cleanUp of cleanups) await cleanUp()
  return reports
}

async function restart(): Promise<void> {
  await store.close()
  store = await connectStore({ path: directory, report: () => undefined })
}

/** What a search finds, and what it finds by the table of words alone. */
async function search(text: string): Promise<{ found: string[]; indexed: string[] }> {
  const found = await findByText(store, 'p', text)
  const indexed = await findByText({ client: store.client, words: nothingMissing() }, 'p', text)
  return { found: found!.toSorted(), indexed: indexed!.toSorted() }
}

function nothingMissing(): Store['words'] {
  return Object.create(store.words, { missing: { value: '0' } }) as Store['words']
}

async function count(query: string): Promise<number> {
  const result = await store.client.query({
    query: `SELECT count() AS count FROM ${query}`,
    format: 'JSONEachRow',
  })
  return (await result.json<{ count: number }>())[0]!.count
}

test('rows wait for their words until these are stored', async () => {
  await insertSteps([{ session: 'a', said: 'refund the Parcel', segment: 5 }])
  const nodes = { isLeader: () => true, isShared: false }
  const builder = new WordBuilder({ store, nodes, report: () => undefined })
  builder.note(1)

  const built = builder.build()
  await new Promise(setImmediate)

  expect(builder.waitingRows).toBe(1)
  await built
  expect(builder.waitingRows).toBe(0)
})

test('while many rows a second arrive, their words wait, but not for ever', async () => {
  const options = { store, nodes: { isLeader: () => true, isShared: false }, report: () => undefined }
  const dueAfter = async (rowsPerSecond: number, seconds: number) => {
    const builder = new WordBuilder(options)
    await builder.build()
    const beganMs = performance.now()
    for (let second = 1; second <= seconds; second++) builder.note(rowsPerSecond, beganMs + second * 1_000)
    return builder.isDue(beganMs + seconds * 1_000)
  }

  expect(await dueAfter(12_000, 20)).toBe(true)
  expect(await dueAfter(20_000, 20)).toBe(false)
  expect(await dueAfter(20_000, 42)).toBe(true)
  // Once the rush is over.
  const builder = new WordBuilder(options)
  await builder.build()
  const beganMs = performance.now()
  builder.note(100_000, beganMs + 1_000)
  expect([2_000, 9_000].map((ms) => builder.isDue(beganMs + ms))).toEqual([false, true])
})

test('words are found before and after they are built, and after a restart', async () => {
  await insertSteps([
    { session: 'a', said: 'refund the Parcel', segment: 5 },
    { session: 'b', said: 'refund the ticket', segment: SECOND_SERVER },
  ])
  expect(await search('refund')).toEqual({ found: ['a', 'b'], indexed: [] })
  expect(await build()).toEqual([])
  expect(await search('refund')).toEqual({ found: ['a', 'b'], indexed: ['a', 'b'] })
  expect(await search('PARCEL')).toEqual({ found: ['a'], indexed: ['a'] })

  await restart()
  await insertSteps([{ session: 'c', said: 'refund', segment: 6 }])
  expect(await search('refund')).toEqual({ found: ['a', 'b', 'c'], indexed: ['a', 'b'] })
  await build()
  expect(await search('refund')).toEqual({ found: ['a', 'b', 'c'], indexed: ['a', 'b', 'c'] })
  // Nothing is built twice.
  expect(await count('words')).toBe(3)
})

test('several words are found in one session, whichever steps and batches they are in', async () => {
  await insertSteps([
    { session: 'a', said: 'the parcel', segment: 1 },
    { session: 'b', said: 'the parcel', segment: 1 },
  ])
  await build()
  await insertSteps([{ session: 'a', said: 'caf\\\\u00e9 refund', segment: 2 }])
  expect((await search('refund parcel')).found).toEqual(['a'])
  expect((await search('café parcel')).found).toEqual(['a'])
  expect((await search('refund parcel nowhere')).found).toEqual([])
  await build()
  expect((await search('refund café parcel')).indexed).toEqual(['a'])
})

test('a long word is found by all of it', async () => {
  const long = 'x'.repeat(200)
  await insertSteps([{ session: 'a', said: `${long} end`, segment: 1 }])
  expect((await search(long)).found).toEqual(['a'])
  await build()
  expect((await search(`${long} end`)).indexed).toEqual(['a'])
})

test('a segment that the log still has is left for later: some of its rows may be missing', async () => {
  await insertSteps([
    { session: 'a', said: 'refund', segment: 1 },
    { session: 'b', said: 'refund', segment: 2 },
    { session: 'c', said: 'refund', segment: SECOND_SERVER + 1 },
  ])
  await build([2n])
  expect(await search('refund')).toEqual({ found: ['a', 'b', 'c'], indexed: ['a', 'c'] })
  await insertSteps([{ session: 'd', said: 'refund', segment: 2 }])
  await build()
  expect((await search('refund')).indexed).toEqual(['a', 'b', 'c', 'd'])
})

test('words of deleted sessions are deleted', async () => {
  await insertSteps([
    { session: 'a', said: 'secret', segment: 1 },
    { session: 'b', said: 'secret', segment: 1 },
  ])
  await build()
  await deleteSessions(store, 'p', { idsSql: "SELECT 'a'", params: {} })
  expect(await search('secret')).toEqual({ found: ['b'], indexed: ['b'] })
})

test('words of steps from before there was a table of words are built week by week; searches find them meanwhile', async () => {
  for (const table of ['words', 'word_marks', 'word_backlog'])
    await store.client.command({ query: `TRUNCATE TABLE ${table}` })
  await insertSteps([
    { session: 'a', said: 'refund', segment: 9, receivedAt: '2026-11-18 10:00:00' },
    { session: 'b', said: 'refund', segment: 3, receivedAt: '2026-11-18 10:00:00' },
    // A copy that the store made itself, and a restored one.
    { session: 'c', said: 'refund', segment: 0, receivedAt: '2026-10-01 10:00:00' },
    { session: 'd', said: 'refund', segment: 0, receivedAt: '2025-01-01 10:00:00' },
  ])
  await restart()
  await insertSteps([{ session: 'e', said: 'refund', segment: 10 }])
  expect(await search('refund')).toEqual({ found: ['a', 'b', 'c', 'd', 'e'], indexed: [] })

  await build()
  expect(store.words.isBacklogDone).toBe(true)
  expect(store.words.missing).toBe('(segment > 10)')
  expect((await search('refund')).indexed).toEqual(['a', 'b', 'c', 'd', 'e'])
  await restart()
  expect(store.words.isBacklogDone).toBe(true)
})

test('words that were lost are built again', async () => {
  await insertSteps([{ session: 'a', said: 'refund', segment: 1 }])
  await build()
  const builder = new WordBuilder({
    store,
    nodes: { isLeader: () => true, isShared: false },
    report: () => undefined,
  })
  await builder.buildAgain()
  expect(await search('refund')).toEqual({ found: ['a'], indexed: [] })
  await builder.build()
  expect(await search('refund')).toEqual({ found: ['a'], indexed: ['a'] })
})

test('on a shared store, segments that came since the last look are left for the next one', async () => {
  const nodes = { isLeader: () => true, isShared: true }
  const builder = new WordBuilder({ store, nodes, report: () => undefined })
  await insertSteps([{ session: 'a', said: 'refund', segment: 1 }])
  await builder.build()
  expect((await search('refund')).indexed).toEqual([])
  await insertSteps([{ session: 'b', said: 'refund', segment: 2 }])
  await builder.build()
  expect(await search('refund')).toEqual({ found: ['a', 'b'], indexed: ['a'] })
})
