import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectStore, type Store } from './connect.ts'
import { MergePause } from './merge-pause.ts'

const SECOND = 1_000

let directory: string
let store: Store
let reports: string[]
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playhead-merges-'))
  store = await connectStore({ path: directory, report: () => undefined })
  reports = []
})
afterEach(async () => {
  await store.close()
  await rm(directory, { recursive: true })
  if (reports.length > 0) throw new Error(reports.join('\n'))
})

const openPause = () => new MergePause(store, (line) => reports.push(line))

async function insertParts(count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await store.client.command({
      query: `INSERT INTO steps (project, session_id, step_id, received_at, started_at) VALUES ('p', 's${index}', '1', now64(3), now64(9))`,
    })
}

async function count(from: string): Promise<number> {
  const result = await store.client.query({
    query: `SELECT count() AS total FROM ${from}`,
    format: 'JSONEachRow',
  })
  return (await result.json<{ total: number }>())[0]!.total
}
const parts = () => count("system.parts WHERE active AND table = 'steps' AND database = currentDatabase()")

test('while the log is behind nothing is merged, and seconds afterwards everything may be', async () => {
  const pause = openPause()
  await pause.check(10_000, 0)
  expect(pause.isPaused).toBe(true)
  await insertParts(4)
  await expect(store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })).rejects.toThrow(
    /cancelled|ABORTED/i,
  )
  expect(await parts()).toBe(4)

  await pause.check(2, 3 * SECOND)
  expect(pause.isPaused).toBe(true)
  await pause.check(2, 6 * SECOND)
  expect(pause.isPaused).toBe(false)
  await store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
  expect(await parts()).toBe(1)
})

test('many rows a second pause merges too, few do not', async () => {
  const pause = openPause()
  pause.note(500)
  await pause.check(2, 0)
  expect(pause.isPaused).toBe(false)
  pause.note(20_000)
  await pause.check(2, 1 * SECOND)
  expect(pause.isPaused).toBe(true)
  await pause.check(2, 7 * SECOND)
  expect(pause.isPaused).toBe(false)
})

test('too many parts are merged even while the log is behind, until few are left', async () => {
  const pause = openPause()
  await pause.check(10_000, 0)
  await insertParts(130)
  await pause.check(10_000, 1 * SECOND)
  expect(pause.isPaused).toBe(false)
  await expect.poll(parts).toBeLessThan(25)
  await pause.check(10_000, 2 * SECOND)
  expect(pause.isPaused).toBe(true)
})

test('a deletion does not wait for the end of the load', async () => {
  const pause = openPause()
  await insertParts(1)
  await pause.check(10_000, 0)
  const deleted = store.client.command({
    query: "ALTER TABLE steps DELETE WHERE session_id = 's0'",
    clickhouse_settings: { mutations_sync: '1' },
  })
  await expect
    .poll(async () => {
      await pause.check(10_000, 1 * SECOND)
      return pause.isPaused
    })
    .toBe(false)
  await deleted
  expect(await count('steps')).toBe(0)
})

test('an engine that was restarted is paused again', async () => {
  const pause = openPause()
  await pause.check(10_000, 0)
  await store.engine!.restartAfter(() => Promise.resolve())
  await pause.check(10_000, 1 * SECOND)
  await insertParts(2)
  await expect(store.client.command({ query: 'OPTIMIZE TABLE steps FINAL' })).rejects.toThrow(
    /cancelled|ABORTED/i,
  )
})
