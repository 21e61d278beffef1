import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectStore, type Store } from '../../packages/server/src/store/connect.ts'
import type { Progress } from '../harness/progress.ts'
import { projects } from '../corpus/projects.ts'

/** These mark copies. Steps keep their segment, whose words are collected. */
const COPY_VERSION = 1
/** Each copy starts this much earlier than the previous one, which keeps the distribution of times. */
const SHIFT_MINUTES = 37

const MEMORY_LIMIT_EXCEEDED = '241'
const MAX_ATTEMPTS = 60
const RETRY_MS = 5_000
/** The client waits as long. */
const MAX_STATEMENT_SECONDS = 1_800

/**
 * Multiplies the sessions of a store inside the engine, with new ids, earlier times and the same text, words and findings, which
 * must be complete. Text only compresses better than it should where copies share a block, which random ids make rare.
 */
export async function multiplyStore(
  directory: string,
  { copies, filledAtMs }: { copies: number; filledAtMs: number },
  progress: Progress,
): Promise<void> {
  const store = await connectStore({ path: join(directory, 'store'), report: () => undefined })
  try {
    for (let copy = 1; copy <= copies; copy++) {
      for (const [index, project] of projects.entries()) {
        await copyRows(store, copySessions, { project, copy })
        await copyRows(store, copyWords, { project, copy })
        await copyRows(store, copyFindings, { project, copy })
        for (const [piece, range] of idRanges.entries()) {
          const done = copy - 1 + (index + piece / idRanges.length) / projects.length
          progress.show('multiplying the store', done / copies, `copy ${copy} of ${copies}, ${project}`)
          await copyRows(store, copySteps, { project, copy, filledAtMs, ...range })
        }
      }
    }
    await mergeEarlierWeeks(store, progress)
  } finally {
    await store.close()
  }
}

/** Merges of earlier copies may use the memory that a statement needs. In that case, retries it. */
async function copyRows(
  store: Pick<Store, 'client'>,
  query: string,
  parameters: Record<string, unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await store.client.command({
        query,
        query_params: parameters,
        clickhouse_settings: { max_execution_time: MAX_STATEMENT_SECONDS },
      })
      return
    } catch (error) {
      if ((error as { code?: string }).code !== MEMORY_LIMIT_EXCEEDED || attempt === MAX_ATTEMPTS) throw error
      await sleep(RETRY_MS)
    }
  }
}

/** As the store does an hour after the last insert. */
async function mergeEarlierWeeks({ client }: Store, progress: Progress): Promise<void> {
  const result = await client.query({
    query: `SELECT DISTINCT table, partition_id AS week FROM system.parts WHERE database = currentDatabase() AND active
      AND table IN ('steps', 'words') AND partition_id < toString(toYYYYMMDD(toMonday(now()))) ORDER BY table, week`,
    format: 'JSONEachRow',
  })
  const weeks = await result.json<{ table: string; week: string }>()
  for (const [index, { table, week }] of weeks.entries()) {
    progress.show('merging earlier weeks', index / weeks.length, `${table}, ${week}`)
    await copyRows({ client }, `OPTIMIZE TABLE ${table} PARTITION ID '${week}' FINAL`, {})
  }
}

/** Steps are copied in ranges of session ids, so that each statement ends before the client times out. */
const idRanges = [
  { from: '0', to: '4' },
  { from: '4', to: '8' },
  { from: '8', to: 'c' },
  { from: 'c', to: 'g' },
]

/** Small blocks, because merges use the same limited memory at the same time. */
const settings =
  'SETTINGS max_threads = 1, max_block_size = 8192, min_insert_block_size_rows = 32768, min_insert_block_size_bytes = 67108864'

const newSessionId = `lower(hex(sipHash128(session_id, {copy:UInt32})))`
const shift = `toIntervalMinute({copy:UInt32} * ${SHIFT_MINUTES})`

// Within one SELECT, a replaced column hides the stored one, so values that depend on another column are computed one level up.
// Spans arrived after the store began to be filled, and copies seem to have arrived long before.
const copySteps = `INSERT INTO steps SELECT * REPLACE (
    toDateTime64(started_at, 3, 'UTC') + toIntervalSecond(5) AS received_at)
  FROM (SELECT * REPLACE (
      ${newSessionId} AS session_id,
      lower(hex(sipHash64(step_id, {copy:UInt32}))) AS step_id,
      if(parent_id = '', '', lower(hex(sipHash64(parent_id, {copy:UInt32})))) AS parent_id,
      if(response_id = '', '', concat(response_id, toString({copy:UInt32}))) AS response_id,
      started_at - ${shift} AS started_at,
      ended_at - ${shift} AS ended_at)
    FROM (SELECT * FROM steps WHERE project = {project:String} AND session_id >= {from:String} AND session_id < {to:String}
      AND received_at >= fromUnixTimestamp64Milli({filledAtMs:Int64})))
  ${settings}`

const copySessions = `INSERT INTO sessions SELECT * REPLACE (
    toUInt32(4294967295 - toUnixTimestamp(toStartOfHour(started_at))) AS bucket,
    toDateTime64(started_at, 3, 'UTC') + toIntervalSecond(60) AS last_heard_at)
  FROM (SELECT * REPLACE (
      ${newSessionId} AS session_id,
      toUInt64(${COPY_VERSION}) AS version,
      started_at - ${shift} AS started_at,
      ended_at - ${shift} AS ended_at)
    FROM (SELECT * FROM sessions FINAL WHERE project = {project:String} AND version > ${COPY_VERSION}))
  ${settings}`

/** Marks the words of copies. */
const COPY_BATCH = 0

// Whole hours, rounded towards the newer one: a bucket of words is never earlier than the start of its session.
const copyWords = `INSERT INTO words SELECT * REPLACE (
    toDateTime64(4294967295 - bucket, 3, 'UTC') + toIntervalSecond(5) AS received_at)
  FROM (SELECT * REPLACE (
      ${newSessionId} AS session_id,
      toUInt32(bucket + intDiv({copy:UInt32} * ${SHIFT_MINUTES}, 60) * 3600) AS bucket,
      toUInt64(${COPY_BATCH}) AS batch)
    FROM (SELECT * FROM words WHERE project = {project:String} AND batch != ${COPY_BATCH}))
  ${settings}`

const copyFindings = `INSERT INTO session_findings SELECT * REPLACE (
    ${newSessionId} AS session_id,
    toUInt64(${COPY_VERSION}) AS version,
    started_at - ${shift} AS started_at)
  FROM (SELECT * FROM session_findings FINAL WHERE project = {project:String} AND version > ${COPY_VERSION})
  ${settings}`
