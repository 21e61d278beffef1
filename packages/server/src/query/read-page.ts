import type { ClickHouseClient } from '@clickhouse/client'
import { loadSql } from '../store/load-sql.ts'
import type { Place } from '../store/newest-sessions.ts'
import { cardSelect, hourBucket, summarySelect, type SummaryRow } from '../store/sessions-table.ts'
import type { Conditions } from './session-filter.ts'
import { newerThan } from './text-search.ts'

const longWindowSql = loadSql(new URL('./list-sessions.sql', import.meta.url))
const shortWindowSql = loadSql(new URL('./list-recent-sessions.sql', import.meta.url))

export type SortedPlace = Place & { sort_key: number }
export type ListedRow = SummaryRow & SortedPlace
type Candidate = SortedPlace & Version
type Version = { bucket: number; session_id: string; version: number }

export type PageQuestion = {
  /** SQL, as are the conditions. */
  sortKey: string
  limit: number
  /** Only sessions after this one in the list. */
  after: SortedPlace | undefined
  /** The earliest start of a session; undefined for all sessions. */
  since: number | undefined
  /** The window holds few sessions. */
  isShort: boolean
  /** If the window does not fill the page, a longer one is read. */
  isOnlyIfFull: boolean
  /** The conditions select from other tables, which takes longer than anything else. */
  isNested: boolean
}

/** How many sessions of the window are listed, at most the limit, and their rows unless a longer window is read anyway. */
export type FoundPage = { count: number; rows: ListedRow[] }

/** Room for outdated rows of the same sessions, and for sessions that started together. */
const SPARE_CANDIDATES = 30

/** Each block is sorted by itself. The default, a megabyte, is 20,000 sessions. */
const BLOCK_BYTES = 4_000_000

/** More than a page has rows, outdated ones included. */
const MAX_ROWS = 5_000

/** Reads the sessions that meet conditions, as far as a page goes. */
export async function readPage(
  client: ClickHouseClient,
  asked: Conditions,
  page: PageQuestion,
): Promise<FoundPage> {
  const conditions = withinWindow(asked, page.since)
  const found = page.isShort || page.isNested ? undefined : await readCandidates(client, conditions, page)
  if (found !== undefined) return found
  const sql = page.isShort ? shortWindowSql : longWindowSql
  const { sql: ofPage, params } = afterPlace(conditions, page)
  const rows = await readCards(async (summary) => {
    const result = await client.query({
      query: sql({ summary, sort_key: page.sortKey, conditions: ofPage }),
      query_params: { ...params, limit: page.limit },
      format: 'JSONEachRow',
    })
    return result.json<ListedRow>()
  })
  return pageOf(rows)
}

function pageOf(rows: ListedRow[]): FoundPage {
  return { count: rows.length, rows }
}

function withinWindow({ sql, params }: Conditions, since: number | undefined): Conditions {
  if (since === undefined) return { sql, params }
  return {
    sql: `${sql} AND bucket <= {sinceBucket:UInt32}`,
    params: { ...params, sinceBucket: hourBucket(since), ...newerThan(since) },
  }
}

function afterPlace({ sql, params }: Conditions, { sortKey, after }: PageQuestion): Conditions {
  if (after === undefined) return { sql, params }
  return {
    sql: `${sql} AND (${sortKey}, toUnixTimestamp64Micro(started_at), session_id) < ({cursorValue:Float64}, {cursorUs:Int64}, {cursorId:String})`,
    params: { ...params, ...cursorParams(after) },
  }
}

function cursorParams({ sort_key, started_us, session_id }: SortedPlace): Record<string, unknown> {
  return { cursorValue: sort_key, cursorUs: started_us, cursorId: session_id }
}

/**
 * Finds the sessions of a page without merging the rows of all others (FINAL), which takes three times as long where parts
 * overlap, and then reads these sessions with it. Undefined if too many of the rows were outdated.
 */
async function readCandidates(
  client: ClickHouseClient,
  conditions: Conditions,
  page: PageQuestion,
): Promise<FoundPage | undefined> {
  const { candidates, isCut } = await findCandidates(client, conditions, page)
  const sessions = [...latestOf(candidates).values()]
  const isTooFew = sessions.length < page.limit
  if (isTooFew && isCut) return undefined
  if (isTooFew && page.isOnlyIfFull) return { count: sessions.length, rows: [] }
  const wanted = sessions.slice(0, page.limit)
  const asFound = await readVersions(client, conditions, wanted)
  if (asFound.length === wanted.length) return pageOf(asFound)
  const current = await readCurrent(client, afterPlace(conditions, page), page.sortKey, sessions)
  // The current row of any session that is listed before the last candidate is a candidate itself.
  const last = isCut ? candidates.at(-1) : undefined
  const known = current.filter((row) => last === undefined || inOrder(row, last) <= 0)
  if (known.length < page.limit && isCut) return undefined
  return pageOf(known.toSorted(inOrder).slice(0, page.limit))
}

type Found = {
  /** In the order of the list. */
  candidates: Candidate[]
  /** There are more of them. */
  isCut: boolean
}

/**
 * Without ids in the order of the statement, the engine reads the id of the candidates only, and not of every session. Ids
 * count among sessions that have the same value and started at the same time; if too many did, the engine has to compare them.
 */
async function findCandidates(
  client: ClickHouseClient,
  conditions: Conditions,
  page: PageQuestion,
): Promise<Found> {
  const { after } = page
  const most = page.limit + SPARE_CANDIDATES
  const rows = await selectCandidates(client, atOrAfterPlace(conditions, page), { ...page, most })
  const isCut = rows.length === most
  const last = rows.at(-1)
  const candidates = rows
    .filter((row) => after === undefined || inOrder(after, row) < 0)
    .filter((row) => !isCut || !isSameTime(row, last!))
    .toSorted(inOrder)
  if (!isCut || latestOf(candidates).size >= page.limit) return { candidates, isCut }
  const byId = await selectCandidates(client, afterPlace(conditions, page), {
    ...page,
    most,
    isOrderedById: true,
  })
  return { candidates: byId, isCut: byId.length === most }
}

async function selectCandidates(
  client: ClickHouseClient,
  { sql, params }: Conditions,
  { sortKey, most, isOrderedById = false }: { sortKey: string; most: number; isOrderedById?: boolean },
): Promise<Candidate[]> {
  const result = await client.query({
    query: `SELECT bucket, session_id, version, ${sortKey} AS sort_key, toUnixTimestamp64Micro(started_at) AS started_us
      FROM sessions WHERE ${sql} AND is_deleted = 0
      ORDER BY sort_key DESC, ${isOrderedById ? 'started_us DESC, session_id' : 'started_at'} DESC
      LIMIT {limit:UInt32} SETTINGS use_query_condition_cache = 0, preferred_block_size_bytes = ${BLOCK_BYTES}`,
    query_params: { ...params, limit: most },
    format: 'JSONEachRow',
  })
  return result.json<Candidate>()
}

/** As `afterPlace`, but for the id, which would be read of every session. */
function atOrAfterPlace({ sql, params }: Conditions, { sortKey, after }: PageQuestion): Conditions {
  if (after === undefined) return { sql, params }
  return {
    sql: `${sql} AND (${sortKey}, toUnixTimestamp64Micro(started_at)) <= ({cursorValue:Float64}, {cursorUs:Int64})`,
    params: { ...params, ...cursorParams(after) },
  }
}

/**
 * Reads sessions; leaves out those that have a later version. With an order and a limit, the engine reads the cards last:
 * for a row here and a row there, that takes a quarter less processor time.
 */
async function readVersions(
  client: ClickHouseClient,
  { params }: Conditions,
  sessions: readonly Candidate[],
): Promise<ListedRow[]> {
  if (sessions.length === 0) return []
  const rows = await readCards(async (summary) => {
    const result = await client.query({
      query: `SELECT ${summary}, bucket, version FROM sessions WHERE project = {project:String} AND ${KEYS}
        ORDER BY version DESC LIMIT ${MAX_ROWS} SETTINGS use_query_condition_cache = 0`,
      query_params: { ...params, ...keyParams(sessions) },
      format: 'JSONEachRow',
    })
    return result.json<SummaryRow & Version>()
  })
  const latest = latestOf(rows)
  return sessions.flatMap((one) => {
    const row = latest.get(keyOf(one))
    return row?.version === one.version ? [{ ...row, sort_key: one.sort_key }] : []
  })
}

/** Reads the sessions that still meet the conditions. */
async function readCurrent(
  client: ClickHouseClient,
  { sql, params }: Conditions,
  sortKey: string,
  sessions: readonly Candidate[],
): Promise<ListedRow[]> {
  return readCards(async (summary) => {
    const result = await client.query({
      query: `SELECT ${summary}, ${sortKey} AS sort_key FROM sessions FINAL WHERE ${sql} AND ${KEYS}
        SETTINGS use_query_condition_cache = 0`,
      query_params: { ...params, ...keyParams(sessions) },
      format: 'JSONEachRow',
    })
    return result.json<ListedRow>()
  })
}

const KEYS = 'bucket IN {buckets:Array(UInt32)} AND session_id IN {ids:Array(String)}'

function keyParams(sessions: readonly Candidate[]): Record<string, unknown> {
  return {
    buckets: [...new Set(sessions.map(({ bucket }) => bucket))],
    ids: sessions.map(({ session_id }) => session_id),
  }
}

/** The latest row of each session, in the order of the rows. */
function latestOf<Row extends Version>(rows: readonly Row[]): Map<string, Row> {
  const latest = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOf(row)
    const other = latest.get(key)
    if (other !== undefined && other.version >= row.version) continue
    // Its place is that of the later version.
    latest.delete(key)
    latest.set(key, row)
  }
  return latest
}

function keyOf({ bucket, session_id }: Pick<Candidate, 'bucket' | 'session_id'>): string {
  return `${bucket} ${session_id}`
}

/** The largest value first, then the latest start, then the largest id. */
function inOrder(left: SortedPlace, right: SortedPlace): number {
  return (
    right.sort_key - left.sort_key ||
    right.started_us - left.started_us ||
    (left.session_id < right.session_id ? 1 : left.session_id > right.session_id ? -1 : 0)
  )
}

function isSameTime(left: SortedPlace, right: SortedPlace): boolean {
  return left.sort_key === right.sort_key && left.started_us === right.started_us
}

/** Rows of earlier versions have no card, and are read with all columns. */
async function readCards<Row extends SummaryRow>(read: (summary: string) => Promise<Row[]>): Promise<Row[]> {
  const rows = await read(cardSelect)
  return rows.some(({ card }) => card === '') ? read(summarySelect) : rows
}
