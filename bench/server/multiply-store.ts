import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectStore, type Store } from '../../packages/server/src/store/connect.ts'
import type { Progress } from '../harness/progress.ts'
import { projects } from '../corpus/projects.ts'

/** These mark copies: real segments and versions are never in these ranges. */
const FIRST_COPY_SEGMENT = '9007199254740992'
const COPY_VERSION = 1
/** Each copy starts this much earlier than the previous one, which keeps the distribution of times. */
const SHIFT_MINUTES = 37

const MEMORY_LIMIT_EXCEEDED = '241'
const MAX_ATTEMPTS = 60
const RETRY_MS = 5_000

/**
 * Multiplies the sessions of a store inside the engine, with new ids, earlier times and the same text. Text only compresses
 * better than it should where copies share a block, which random ids make rare.
 */
export async function multiplyStore(directory: string, copies: number, progress: Progress): Promise<void> {
  const store = await connectStore({ path: join(directory, 'store'), report: () => undefined })
  try {
    for (let copy = 1; copy <= copies; copy++) {
      for (const [index, project] of projects.entries()) {
        await copyRows(store, copySessions, { project, copy })
        for (const [piece, range] of idRanges.entries()) {
          const done = copy - 1 + (index + piece / idRanges.length) / projects.length
          progress.show('multiplying the store', done / copies, `copy ${copy} of ${copies}, ${project}`)
          await copyRows(store, copySteps, { project, copy, ...range })
        }
      }
    }
  } finally {
    await store.close()
  }
}

/** Merges of earlier copies may use the memory that a statement needs. In that case, retries it. */
async function copyRows(store: Store, query: string, parameters: Record<string, unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await store.client.command({ query, query_params: parameters })
      return
    } catch (error) {
      if ((error as { code?: string }).code !== MEMORY_LIMIT_EXCEEDED || attempt === MAX_ATTEMPTS) throw error
      await sleep(RETRY_MS)
    }
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
const copySteps = `INSERT INTO steps SELECT * REPLACE (
    toDateTime64(started_at, 3, 'UTC') + toIntervalSecond(5) AS received_at)
  FROM (SELECT * REPLACE (
      ${newSessionId} AS session_id,
      lower(hex(sipHash64(step_id, {copy:UInt32}))) AS step_id,
      if(parent_id = '', '', lower(hex(sipHash64(parent_id, {copy:UInt32})))) AS parent_id,
      if(response_id = '', '', concat(response_id, toString({copy:UInt32}))) AS response_id,
      ${FIRST_COPY_SEGMENT} + {copy:UInt32} AS segment,
      started_at - ${shift} AS started_at,
      ended_at - ${shift} AS ended_at)
    FROM (SELECT * FROM steps WHERE project = {project:String} AND session_id >= {from:String} AND session_id < {to:String}
      AND segment < ${FIRST_COPY_SEGMENT}))
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
