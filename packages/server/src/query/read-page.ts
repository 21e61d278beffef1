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
type Candidate = SortedPlace & { bucket: number }

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
  /** The conditions select from other tables, which takes longer than anything else. */
  isNested: boolean
}

/** Room for outdated rows of the same sessions, and for sessions that started together. */
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
  const { sql: ofPage, params } = afterPlace(conditions, page)
  return readCards(async (summary) => {
    const result = await client.query({
      query: sql({ summary, sort_key: page.sortKey, conditions: ofPage }),
      query_params: { ...params, limit: page.limit },
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
): Promise<ListedRow[] | undefined> {
  const { candidates, isCut } = await findCandidates(client, conditions, page)
  const sessions = distinctSessions(candidates)
  if (sessions.length < page.limit && isCut) return undefined
  const ofPage = afterPlace(conditions, page)
  const wanted = sessions.slice(0, page.limit)
  const current = new Map<string, ListedRow>()
  const read = async (some: readonly Candidate[]) => {
    for (const row of await readCurrent(client, ofPage, page.sortKey, some)) current.set(keyOf(row), row)
  }
  await read(wanted)
  const asFound = wanted.flatMap((one) => {
    const row = current.get(keyOf(one))
    return row !== undefined && isSameTime(row, one) ? [row] : []
  })
  if (asFound.length === wanted.length) return asFound
  await read(sessions.slice(page.limit))
  // The current row of any session that is listed before the last candidate is a candidate itself.
  const last = isCut ? candidates.at(-1) : undefined
  const known = [...current.values()].filter((row) => last === undefined || inOrder(row, last) <= 0)
  if (known.length < page.limit && isCut) return undefined
  return known.toSorted(inOrder).slice(0, page.limit)
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
  if (!isCut || distinctSessions(candidates).length >= page.limit) return { candidates, isCut }
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
    query: `SELECT bucket, session_id, ${sortKey} AS sort_key, toUnixTimestamp64Micro(started_at) AS started_us
      FROM sessions WHERE ${sql} AND is_deleted = 0
      ORDER BY sort_key DESC, started_us DESC${isOrderedById ? ', session_id DESC' : ''}
      LIMIT {limit:UInt32} SETTINGS use_query_condition_cache = 0`,
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

async function readCurrent(
  client: ClickHouseClient,
  { sql, params }: Conditions,
  sortKey: string,
  sessions: readonly Candidate[],
): Promise<(ListedRow & Candidate)[]> {
  if (sessions.length === 0) return []
  return readCards(async (summary) => {
    const read = await client.query({
      query: `SELECT ${summary}, bucket, ${sortKey} AS sort_key FROM sessions FINAL
        WHERE ${sql} AND bucket IN {buckets:Array(UInt32)} AND session_id IN {ids:Array(String)}
        SETTINGS use_query_condition_cache = 0`,
      query_params: {
        ...params,
        buckets: [...new Set(sessions.map(({ bucket }) => bucket))],
        ids: sessions.map(({ session_id }) => session_id),
      },
      format: 'JSONEachRow',
    })
    return read.json<ListedRow & Candidate>()
  })
}

function distinctSessions(candidates: readonly Candidate[]): Candidate[] {
  const first = new Map<string, Candidate>()
  for (const one of candidates) if (!first.has(keyOf(one))) first.set(keyOf(one), one)
  return [...first.values()]
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
async function readCards<Row extends ListedRow>(read: (summary: string) => Promise<Row[]>): Promise<Row[]> {
  const rows = await read(cardSelect)
  return rows.some(({ card }) => card === '') ? read(summarySelect) : rows
}
