import { createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { startTestServer, type TestServer } from '../test-server.ts'

/** Exports many sessions to Parquet, and compares what DuckDB reads with what is stored: `npm run export-million`. */
const count = Number(process.argv[2] ?? 1_000_000)
const BATCH = 100_000
const folder = await mkdtemp(join(tmpdir(), 'playhead-million-'))
const server = await startTestServer({ PLAYHEAD_DATA: join(folder, 'data') })
try {
  await fill(server)
  const before = memoryOf(server)
  const path = join(folder, 'sessions.parquet')
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(server))), 100)
  const startedMs = performance.now()
  const response = await server.request('/api/export?format=parquet')
  await pipeline(Readable.fromWeb(response.body as never), createWriteStream(path))
  const seconds = (performance.now() - startedMs) / 1_000
  clearInterval(timer)
  const bytes = (await stat(path)).size
  const [stored, read] = [await storedSums(server), await duckDbSums(path)]
  process.stdout.write(
    `${[
      `${count} sessions to Parquet: ${seconds.toFixed(1)} s, ${(bytes / 1e6).toFixed(1)} MB`,
      `memory of server and engine: ${(before / 1e6).toFixed(0)} MB before, ${(peak / 1e6).toFixed(0)} MB at most`,
      `stored: ${JSON.stringify(stored)}`,
      `DuckDB: ${JSON.stringify(read)}`,
      JSON.stringify(stored) === JSON.stringify(read) ? 'The sums are the same.' : 'THE SUMS DIFFER.',
    ].join('\n')}\n`,
  )
  if (JSON.stringify(stored) !== JSON.stringify(read)) process.exitCode = 1
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}

/** Rows as the server writes them, made by the engine: recording a million sessions would take an hour. */
async function fill(server: TestServer): Promise<void> {
  for (let from = 0; from < count; from += BATCH) await fillBatch(server, from)
}

async function fillBatch({ services }: TestServer, from: number): Promise<void> {
  await services.store.client.command({
    query: `INSERT INTO sessions (project, bucket, session_id, version, started_at, ended_at, last_heard_at, settled_state, name,
      input_preview, tags, usage, cost, step_count, llm_call_count, action_count, models, tools, user_id)
      SELECT 'default', 4294967295 - intDiv(toUnixTimestamp(at), 3600), lower(hex(sipHash128(number))), 1, at, at + 4,
        at + 4, if(number % 10 = 0, 'fail', 'success'), concat('agent ', toString(number % 50)),
        concat('Question ', toString(number), ' about order ', toString(cityHash64(number) % 100000)), ['support', 'v2'],
        map('input', 100 + number % 1000, 'output', 10 + number % 100), (number % 1000) / 1000, 5, 2, 2,
        ['gpt-4o'], ['lookup', 'refund'], concat('user ', toString(number % 10000))
      FROM (SELECT number, now() - number AS at FROM numbers(${from}, ${Math.min(BATCH, count - from)}))`,
    clickhouse_settings: { max_execution_time: 600 },
  })
}

async function storedSums({ services }: TestServer): Promise<number[]> {
  const result = await services.store.client.query({
    query: `SELECT count() AS rows, round(sum(cost), 3) AS cost, sum(usage['input']) AS input, uniqExact(session_id) AS ids
      FROM sessions FINAL WHERE project = 'default'`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<Record<string, number>>()
  return Object.values(row ?? {})
}

async function duckDbSums(path: string): Promise<number[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const result = await connection.runAndReadAll(
    `SELECT count(*)::DOUBLE, round(sum(cost), 3), sum(input_tokens)::DOUBLE, count(DISTINCT id)::DOUBLE FROM read_parquet('${path}')`,
  )
  return result.getRows()[0] as number[]
}

/** Resident memory of this process, which is the server, and of its engine. */
function memoryOf({ services }: TestServer): number {
  const engine = services.store.engine?.pid
  return [process.pid, ...(engine === undefined ? [] : [engine])].reduce(
    (sum, pid) => sum + residentBytes(pid),
    0,
  )
}

function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024
  } catch {
    return 0
  }
}
