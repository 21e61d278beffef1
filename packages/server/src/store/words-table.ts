import { randomInt } from 'node:crypto'
import { ClickHouseError } from '@clickhouse/client'
import type { Store } from './connect.ts'
import { SEARCH_TEXT } from './steps-table.ts'

/** Of a longer word (encoded files have them), this many bytes are looked up. */
const MAX_WORD_BYTES = 64
/** Steps are long, and their text is copied a few times. */
const BLOCK_ROWS = 1_024
/** If the words of a batch do not fit into the engine's memory, they are built in so many parts, and those again. */
const PARTS = 8
const MAX_PARTS = PARTS ** 3

/** The words of a text, in SQL. */
export function wordsOf(text: string): string {
  return `tokens(${text}, 'splitByNonAlpha')`
}

/** A word as it is stored, in SQL. */
export function storedWord(word: string): string {
  return `left(${word}, ${MAX_WORD_BYTES})`
}

/** `hourBucket` of a DateTime64(9), in SQL. */
const bucketOf = (time: string) =>
  `4294967295 - toUInt32(least(greatest(intDiv(toUnixTimestamp64Milli(${time}), 3600000) * 3600, 0), 4294967295))`

type Steps = { condition: string; params?: Record<string, unknown> }

/**
 * Adds the words of the steps that meet a condition (SQL). Other words of their sessions stay, so it may be repeated. Leaves
 * out sessions that are deleted meanwhile: deletions remove steps before words.
 */
export async function insertWords(store: Pick<Store, 'client' | 'cluster'>, steps: Steps): Promise<void> {
  const batch = randomInt(2 ** 47)
  await insertPart(store, steps, { batch, part: 0, parts: 1 })
  await dropDeleted(store, batch)
}

async function insertPart(
  store: Pick<Store, 'client'>,
  { condition, params }: Steps,
  { batch, part, parts }: { batch: number; part: number; parts: number },
): Promise<void> {
  const inPart = parts === 1 ? '' : ` AND cityHash64(step_id) % ${parts} = ${part}`
  try {
    await store.client.command({
      query: `INSERT INTO words (project, bucket, session_id, received_at, batch, words)
        SELECT project, ${bucketOf('max(started_at)')}, session_id, max(received_at), {batch:UInt64},
          arrayMap(word -> ${storedWord('word')}, groupUniqArrayArray(${wordsOf(SEARCH_TEXT)}))
        FROM steps WHERE (${condition})${inPart} GROUP BY project, session_id, toMonday(received_at)`,
      query_params: { ...params, batch },
      clickhouse_settings: {
        max_threads: 1,
        max_insert_threads: '1',
        max_block_size: String(BLOCK_ROWS),
        max_memory_usage: String(400 * 1024 ** 2),
        // A batch becomes one part, except where it crosses weeks.
        max_partitions_per_insert_block: '0',
        max_execution_time: 600,
      },
    })
  } catch (error) {
    const isTooMuch = error instanceof ClickHouseError && error.type === 'MEMORY_LIMIT_EXCEEDED'
    if (!isTooMuch || parts >= MAX_PARTS) throw error
    for (let each = 0; each < PARTS; each++)
      await insertPart(
        store,
        { condition, ...(params !== undefined && { params }) },
        { batch, part: part + each * parts, parts: parts * PARTS },
      )
  }
}

/** Deletes the words of sessions that have no steps any more. */
async function dropDeleted(
  { client, cluster }: Pick<Store, 'client' | 'cluster'>,
  batch: number,
): Promise<void> {
  const ofBatch = 'SELECT project, session_id FROM words WHERE batch = {batch:UInt64}'
  const result = await client.query({
    query: `SELECT DISTINCT project, session_id FROM words WHERE batch = {batch:UInt64} AND (project, session_id) NOT IN (
        SELECT project, session_id FROM steps WHERE (project, session_id) IN (${ofBatch}))`,
    query_params: { batch },
    format: 'JSONEachRow',
  })
  const deleted = await result.json<{ project: string; session_id: string }>()
  for (const [project, sessions] of Map.groupBy(deleted, (row) => row.project))
    await client.command({
      query: `DELETE FROM ${cluster === undefined ? 'words' : `words_local ON CLUSTER '${cluster}'`}
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}`,
      query_params: { project, ids: sessions.map(({ session_id }) => session_id) },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    })
}
