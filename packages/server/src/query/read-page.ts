import type { ClickHouseClient } from '@clickhouse/client'
import { loadSql } from '../store/load-sql.ts'
import { cardSelect, hourBucket, summarySelect, type SummaryRow } from '../store/sessions-table.ts'
import type { Conditions } from './session-filter.ts'
import { newerThan } from './text-search.ts'

const longWindowSql = loadSql(new URL('./list-sessions.sql', import.meta.url))
const shortWindowSql = loadSql(new URL('./list-recent-sessions.sql', import.meta.url))

export type ListedRow = SummaryRow & { sort_key: number }
type Candidate = { bucket: number; session_id: string; sort_key: number; started_us: number }

export type PageQuestion = {
  /** SQL, as are the conditions. */
  sortKey: string
  limit: number
  /** The earliest start of a session; undefined for all sessions. */
  since: number | undefined
  /** The window holds few sessions. */
  isShort: boolean
  /** The conditions select from other tables, which takes longer than anything else. */
  isNested: boolean
}

/** Room for outdated rows of the same sessions. */
const SPARE_CANDIDATES = 30

/** Reads the sessions that meet conditions, as far as a page goes. */
export async function readPage(
  client: ClickHouseClient,
  asked: Conditions,
  page: PageQuestion,
): Promise<ListedRow[]> {
  const conditions = withinWindow(asked, page.since)
  const found = page.isShort || page.isNested ? undefined : await readCandidates(client, conditions, page)
  if (found !== undefined) return found
  const sql = page.isShort ? shortWindowSql : longWindowSql
  return readCards(async (summary) => {
    const result = await client.query({
      query: sql({ summary, sort_key: page.sortKey, conditions: conditions.sql }),
      query_params: { ...conditions.params, limit: page.limit },
      format: 'JSONEachRow',
    })
    return result.json<ListedRow>()
  })
}

function withinWindow({ sql, params }: Conditions, since: number | undefined): Conditions {
  if (since === undefined) return { sql, params }
  return {
    sql: `${sql} AND bucket <= {sinceBucket:UInt32}`,
    params: { ...params, sinceBucket: hourBucket(since), ...newerThan(since) },
  }
}

/**
 * Finds the sessions of a page without merging the rows of all others (FINAL), which takes three times as long where parts
 * overlap, and then reads these sessions with it. Undefined if that shows that one of the rows was outdated.
 */
async function readCandidates(
  client: ClickHouseClient,
  { sql, params }: Conditions,
  { sortKey, limit }: PageQuestion,
): Promise<ListedRow[] | undefined> {
  const most = limit + SPARE_CANDIDATES
  const result = await client.query({
    query: `SELECT bucket, session_id, ${sortKey} AS sort_key, toUnixTimestamp64Micro(started_at) AS started_us
      FROM sessions WHERE ${sql} AND is_deleted = 0
      ORDER BY sort_key DESC, started_us DESC, session_id DESC LIMIT {limit:UInt32} SETTINGS use_query_condition_cache = 0`,
    query_params: { ...params, limit: most },
    format: 'JSONEachRow',
  })
  const candidates = await result.json<Candidate>()
  const first = new Map<string, Candidate>()
  for (const one of candidates) if (!first.has(keyOf(one))) first.set(keyOf(one), one)
  const wanted = [...first.values()].slice(0, limit)
  if (wanted.length === 0) return []
  if (wanted.length < limit && candidates.length === most) return undefined
  const rows = await readCards(async (summary) => {
    const read = await client.query({
      query: `SELECT ${summary}, bucket, ${sortKey} AS sort_key FROM sessions FINAL
        WHERE ${sql} AND bucket IN {buckets:Array(UInt32)} AND session_id IN {ids:Array(String)}
        SETTINGS use_query_condition_cache = 0`,
      query_params: {
        ...params,
        buckets: [...new Set(wanted.map(({ bucket }) => bucket))],
        ids: wanted.map(({ session_id }) => session_id),
      },
      format: 'JSONEachRow',
    })
    return read.json<ListedRow & Candidate>()
  })
  const current = new Map(rows.map(({ bucket, ...row }) => [keyOf({ ...row, bucket }), row as ListedRow]))
  const page = wanted.flatMap((one) => {
    const row = current.get(keyOf(one))
    return row?.sort_key === one.sort_key && row.started_us === one.started_us ? [row] : []
  })
  return page.length === wanted.length ? page : undefined
}

function keyOf({ bucket, session_id }: Pick<Candidate, 'bucket' | 'session_id'>): string {
  return `${bucket} ${session_id}`
}

/** Rows of earlier versions have no card, and are read with all columns. */
async function readCards<Row extends ListedRow>(read: (summary: string) => Promise<Row[]>): Promise<Row[]> {
  const rows = await read(cardSelect)
  return rows.some(({ card }) => card === '') ? read(summarySelect) : rows
}
