import type { ClickHouseClient } from '@clickhouse/client'
import { startTestServer } from '../../packages/server/test/test-server.ts'
import { hourBucket } from '../../packages/server/src/store/sessions-table.ts'
import { percentile } from '../harness/percentile.ts'

const SESSIONS = 10_000
const STEPS_PER_SESSION = 24
const ROUNDS = 9

/** Measures the decision graph of 10,000 sessions over HTTP: `npx node --conditions=playhead-source bench/suites/decision-graph.ts`. */
const server = await startTestServer()
await fill(server.services.store.client)
for (const steps of ['actions', 'steps', 'effects']) {
  const times: number[] = []
  let graph = { sessions: 0, nodes: [], edges: [], variantCount: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = performance.now()
    const response = await server.request(`/api/graph?of=${steps}`)
    graph = (await response.json()) as typeof graph
    times.push(performance.now() - before)
  }
  const { sessions, nodes, edges, variantCount } = graph
  console.log(
    `${steps}: ${sessions} sessions, ${nodes.length} nodes, ${edges.length} edges, ${variantCount} variants: ` +
      `p50 ${Math.round(percentile(times, 0.5))} ms, slowest ${Math.round(Math.max(...times))} ms`,
  )
}
await server.stop()

/** Each session takes random actions out of sixteen, with a model call after each. */
async function fill(client: ClickHouseClient): Promise<void> {
  const query_params = {
    nowMs: Date.now(),
    sessions: SESSIONS,
    steps: STEPS_PER_SESSION,
    base: hourBucket(0),
  }
  await client.command({
    query: `INSERT INTO sessions (project, bucket, session_id, version, is_deleted, started_at, ended_at, last_heard_at, is_open, settled_state, name, cost, step_count)
      SELECT 'default', toUInt32({base:UInt32} - intDiv({nowMs:Int64}, 3600000) * 3600), lower(hex(MD5(toString(number)))), 1, 0,
        fromUnixTimestamp64Milli({nowMs:Int64} - toInt64(number)), fromUnixTimestamp64Milli({nowMs:Int64} - toInt64(number) + 500),
        fromUnixTimestamp64Milli({nowMs:Int64}), 0, if(cityHash64(number) % 5 = 0, 'fail', 'success'), 'support', 0.01, {steps:UInt32}
      FROM numbers({sessions:UInt64})`,
    query_params,
  })
  await client.command({
    query: `INSERT INTO steps (project, session_id, step_id, version, received_at, started_at, ended_at, kind, name, dialect, status, model, tool, effect, outline, normalizer_version, span_name)
      SELECT 'default', lower(hex(MD5(toString(session)))), lower(hex(toUInt64(number))), 1, fromUnixTimestamp64Milli({nowMs:Int64}),
        fromUnixTimestamp64Milli({nowMs:Int64} - toInt64(session) + toInt64(place) * 10), fromUnixTimestamp64Milli({nowMs:Int64} - toInt64(session) + toInt64(place) * 10 + 7),
        if(place % 2 = 0, 'action', 'llm'), tool_name, 'playhead', if(random % 40 = 0, 'error', 'ok'), if(place % 2 = 0, '', 'gpt-4o'),
        if(place % 2 = 0, tool_name, ''), if(random % 16 > 12, 'write', 'read'), '{}', 1, tool_name
      FROM (
        SELECT number, intDiv(number, {steps:UInt32}) AS session, number % {steps:UInt32} AS place, cityHash64(number) AS random,
          concat('tool_', toString(least(random % 16, intDiv(place, 2) + random % 3))) AS tool_name
        FROM numbers({sessions:UInt64} * {steps:UInt32})
      )`,
    query_params,
  })
}
