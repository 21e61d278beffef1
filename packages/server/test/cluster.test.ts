import { afterAll, beforeAll, expect, test } from 'vitest'
import { session } from './project-server.ts'
import { startClusterOverHttp, type EngineOverHttp } from './engine-over-http.ts'
import { tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let engine: EngineOverHttp
let server: TestServer
beforeAll(async () => {
  engine = await startClusterOverHttp()
  server = await startTestServer({ CLICKHOUSE_URL: engine.url, CLICKHOUSE_CLUSTER: 'two' })
})
afterAll(async () => {
  await server.stop()
  await engine.stop()
})

async function rowsByShard(table: string): Promise<{ shard: number; sessions: string[] }[]> {
  const result = await server.services.store.client.query({
    query: `SELECT shardNum() AS shard, groupUniqArray(session_id) AS sessions FROM ${table} GROUP BY shard ORDER BY shard`,
    format: 'JSONEachRow',
  })
  return result.json()
}

test('spreads sessions over the shards, each on one shard, and finds them from both', async () => {
  const sessions = Array.from({ length: 40 }, (_, index) =>
    session({ name: `session ${index}`, prompt: `a word that is common, and rare${index}` }),
  )
  await server.postTraces(tracesPayload(sessions.flat()))
  expect(await server.sessions('text=common&limit=100')).toHaveLength(40)
  for (const index of [3, 17, 31])
    expect((await server.sessions(`text=rare${index}`)).map(({ name }) => name)).toEqual([`session ${index}`])

  const [steps, rows] = [await rowsByShard('steps'), await rowsByShard('sessions')]
  for (const shards of [steps, rows]) {
    expect(shards.map(({ shard }) => shard)).toEqual([1, 2])
    expect(shards.flatMap(({ sessions: ids }) => ids)).toHaveLength(40)
  }
  expect(steps.map(({ sessions: ids }) => ids.toSorted())).toEqual(
    rows.map(({ sessions: ids }) => ids.toSorted()),
  )
})
