import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startEngineOverHttp } from '../../test/engine-over-http.ts'
import { KnownError } from '../errors/known-error.ts'
import { connectStore } from './connect.ts'

const directory = await mkdtemp(join(tmpdir(), 'playhead-store-'))
const store = await connectStore({ path: directory, report: () => undefined })
afterAll(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

test('parameters reach the engine unchanged, including quotes, escapes and newlines', async () => {
  const value = 'it\'s "a" \\ tab\t new\nline ünï 🎈 \u0000 {x:String}'

  const result = await store.client.query({
    query:
      'SELECT {value:String} AS value, {list:Array(String)} AS list, {nothing:Nullable(String)} AS nothing',
    query_params: { value, list: [value, "')"], nothing: null },
    format: 'JSONEachRow',
  })

  expect(await result.json()).toEqual([{ value, list: [value, "')"], nothing: null }])
})

test('inserted data is never parsed as SQL', async () => {
  await store.client.command({ query: 'CREATE TABLE notes (text String) ENGINE = MergeTree ORDER BY text' })
  const texts = ['plain', '\n\nTRUNCATE TABLE notes\n\n', "'; DROP TABLE notes; --", '-- { error }']

  await store.client.insert({
    table: 'notes',
    values: texts.map((text) => ({ text })),
    format: 'JSONEachRow',
  })

  const result = await store.client.query({ query: 'SELECT text FROM notes', format: 'JSONEachRow' })
  expect((await result.json<{ text: string }>()).map((row) => row.text).sort()).toEqual(texts.sort())
})

test("an error carries ClickHouse's code, and rows of the failed query never leak into the next result", async () => {
  const failing = store.client.query({
    query: 'SELECT throwIf(number = 90000) FROM numbers(100000)',
    format: 'JSONEachRow',
  })
  await expect(failing.then((result) => result.text())).rejects.toMatchObject({ code: '395' })

  const next = await store.client.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' })
  expect(await next.json()).toEqual([{ one: 1 }])
})

test('cancels a query whose client has disconnected', async () => {
  const controller = new AbortController()
  const slow = store.client.query({
    query: 'SELECT sleepEachRow(1) FROM numbers(30) SETTINGS max_block_size = 1',
    abort_signal: controller.signal,
  })
  const countRunning = async () => {
    const result = await store.client.query({
      query:
        "SELECT count() AS running FROM system.processes WHERE query LIKE '%sleepEachRow(1)%' AND query NOT LIKE '%system.processes%'",
      format: 'JSONEachRow',
    })
    return (await result.json<{ running: number }>())[0]?.running
  }
  await expect.poll(countRunning).toBe(1)

  controller.abort()

  await expect(slow).rejects.toThrow('aborted')
  await expect.poll(countRunning).toBe(0)
})

test('a killed engine comes back at the same socket with its data', async () => {
  await store.client.command({
    query: 'CREATE TABLE kept (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1',
  })
  await store.client.insert({ table: 'kept', values: [{ n: 7 }], format: 'JSONEachRow' })

  process.kill(store.engine!.pid!, 'SIGKILL')

  await expect
    .poll(
      () =>
        store.client.query({ query: 'SELECT n FROM kept', format: 'JSONEachRow' }).then(
          (result) => result.json(),
          () => 'down',
        ),
      { timeout: 60_000 },
    )
    .toEqual([{ n: 7 }])
})

describe('an unusable CLICKHOUSE_URL is reported in one sentence, without its password', () => {
  test.each([
    [
      'http://default:hunter2@127.0.0.1:9',
      /^Could not use ClickHouse at 127\.0\.0\.1:9: .*ECONNREFUSED.* Check CLICKHOUSE_URL\.$/,
    ],
    ['localhost:8123', /^Could not use ClickHouse at the given address: .*http.* Check CLICKHOUSE_URL\.$/],
    ['nonsense', /^Could not use ClickHouse at the given address: Invalid URL\. Check CLICKHOUSE_URL\.$/],
  ])('%s', async (clickhouseUrl, sentence) => {
    const error = await connectStore({ path: directory, clickhouseUrl, report: () => undefined }).catch(
      (error: Error) => error,
    )

    expect(error).toBeInstanceOf(KnownError)
    expect((error as KnownError).message).toMatch(sentence)
    expect((error as KnownError).message).not.toContain('hunter2')
  })

  test('a wrong password', async () => {
    const engine = await startEngineOverHttp()
    try {
      await expect(
        connectStore({
          path: directory,
          clickhouseUrl: engine.url.replace('secret', 'wrong'),
          report: () => undefined,
        }),
      ).rejects.toThrow(/^Could not use ClickHouse at 127\.0\.0\.1:\d+: .*Authentication failed/)
    } finally {
      await engine.stop()
    }
  })
})
