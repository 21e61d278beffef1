import type { ClickHouseClient } from '@clickhouse/client'
import type { Store } from '../store/connect.ts'
import type { SessionSummary } from '@playhead/model'
import { z } from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { loadSql } from '../store/load-sql.ts'
import type { BadRows } from '../store/bad-rows.ts'
import { newestSelect, type NewestRow } from '../store/newest-sessions.ts'
import { findNewestPage, isKnownToMemory } from './newest-page.ts'
import { cachePage } from './page-cache.ts'
import { readPage, type ListedRow, type SortedPlace } from './read-page.ts'
import { findByText } from './text-search.ts'
import { scoreNumberOf, sessionConditions, sessionFilterSchema, type Conditions } from './session-filter.ts'
import { DURATION_MS, hourBucket, summariesFromRows, type SummaryRow } from '../store/sessions-table.ts'

const longWindowSql = loadSql(new URL('./list-sessions.sql', import.meta.url))

const sessionOrders = ['time', 'cost', 'duration', 'steps', 'errors', 'tokens'] as const

export const listQuerySchema = sessionFilterSchema.extend({
  sort: z
    .union([z.enum(sessionOrders), z.templateLiteral(['score:', z.string().min(1).max(100)])])
    .default('time')
    .describe('or `score:helpful`, by the number of that score'),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
  cursor: z.string().optional().describe('`nextCursor` of the previous page'),
})

export type ListQuery = z.infer<typeof listQuerySchema>
export type SessionPage = { sessions: SessionSummary[]; nextCursor?: string }

/** Sessions without a value to sort by come last, and of equal ones the newest first. ±1e308 survives JSON; infinity does not. */
const sortKeys: Record<(typeof sessionOrders)[number], string> = {
  time: 'toFloat64(toUnixTimestamp64Micro(started_at))',
  cost: 'ifNull(cost, -1e308)',
  duration: `ifNull(${DURATION_MS}, -1e308)`,
  steps: 'toFloat64(step_count)',
  errors: 'toFloat64(error_count)',
  tokens: "toFloat64(usage['input'] + usage['output'])",
}

const DAY_MS = 86_400_000
/** Sorted by time, a page usually lies within the last day, so older sessions are read only if needed. */
const windowsMs = [DAY_MS, 14 * DAY_MS, Infinity]
/** A window is tried if it fills the page, should earlier times have up to so many times as many sessions as the latest. */
const FEW_MORE = 2
/** How far back the results of a query reached. When the same query comes again, shorter windows are skipped. */
const reachCache = new Map<string, number>()
const MAX_CACHED_QUERIES = 1_000

type ListedStore = Pick<Store, 'client' | 'badRows' | 'engine' | 'sessions' | 'words'>

export async function listSessions(
  store: ListedStore,
  project: string,
  asked: ListQuery,
): Promise<SessionPage> {
  const query = onlyOwn(asked)
  const { newest } = store.sessions
  const isInMemory = isForMemory(store, query)
  const load = () => newest.load(project, (limit) => readNewest(store.client, project, limit))
  if (isInMemory && newest.isAhead(project)) await load()
  const remembered = listFromMemory(store, project, query)
  if (remembered !== undefined) return remembered
  const read = () => readSessions(store, project, query)
  const page = dependsOnMore(query)
    ? await read()
    : await cachePage(store, `${project}\0${JSON.stringify(query)}`, read)
  // If it fails, the next list asks the store again.
  if (isInMemory) void load().catch(noop)
  return page
}

/** A page of the newest sessions, if memory can tell. It may have sessions that are not in the store yet. */
export function listFromMemory(
  store: ListedStore,
  project: string,
  asked: ListQuery,
): SessionPage | undefined {
  const query = onlyOwn(asked)
  if (!isForMemory(store, query)) return undefined
  const rows = findNewestPage(store.sessions, project, query, placeOf(query.cursor))
  return rows && toPage(store.badRows, rows.map(withSortKey), query.limit)
}

function isForMemory({ engine }: ListedStore, query: ListQuery): boolean {
  return engine !== undefined && isNewestFirst(query) && isKnownToMemory(query)
}

/** Without what a route takes beside it. */
function onlyOwn(query: ListQuery): ListQuery {
  const own = Object.entries(query).filter(([field]) => field in listQuerySchema.shape)
  return Object.fromEntries(own) as ListQuery
}

const noop = () => undefined

function isNewestFirst({ sort, order }: ListQuery): boolean {
  return sort === 'time' && order === 'desc'
}

function withSortKey(row: SummaryRow): ListedRow {
  return { ...row, sort_key: row.started_us }
}

/** Whether a page may change although no session does: with the clock, or with what other tables hold. */
function dependsOnMore({
  sort,
  order: _order,
  limit: _limit,
  cursor: _cursor,
  ...filter
}: ListQuery): boolean {
  return !(sort === 'time' || sort === 'cost') || Object.values(filter).some((value) => value !== undefined)
}

async function readSessions(
  store: Pick<Store, 'client' | 'badRows' | 'words'>,
  project: string,
  query: ListQuery,
): Promise<SessionPage> {
  const { sql: order, params } = orderOf(query)
  const sortKey = `${query.order === 'asc' ? '-' : ''}(${order})`
  const found = await findOnce(store, project, query)
  const conditions = sessionConditions(store, project, { ...query, reruns: query.reruns ?? 'include' }, found)
  Object.assign(conditions.params, params)
  const isByTime = isNewestFirst(query)
  const endMs = windowEnd(query)
  const cacheKey = `${project}\0${JSON.stringify({ ...query, cursor: '', from: '' })}`
  let knownMs = found === undefined ? (reachCache.get(cacheKey) ?? 0) : Infinity
  if (found?.length === 0) return { sessions: [] }
  // One extra row tells whether there is a next page.
  const limit = query.limit + 1
  let rows: ListedRow[] = []
  for (const windowMs of isByTime && !isSelective(query) ? windowsMs : [Infinity]) {
    if (windowMs < knownMs) continue
    const page = await readPage(store.client, conditions, {
      sortKey,
      limit,
      after: placeOf(query.cursor),
      since: windowMs === Infinity ? undefined : endMs - windowMs,
      isShort: windowMs <= DAY_MS,
      isOnlyIfFull: windowMs !== Infinity,
      isNested:
        (found === undefined && Boolean(query.text)) ||
        query.finding !== undefined ||
        query.issue !== undefined,
    })
    rows = page.rows
    if (page.count >= limit) break
    knownMs = Math.max(knownMs, (windowMs * limit) / (FEW_MORE * page.count))
  }
  if (isByTime) cacheReach(cacheKey, reachOf(rows[limit - 1], query.from, endMs))
  return toPage(store.badRows, rows, query.limit)
}

/** `rows` has one more than the page if there is a next one. */
function toPage(badRows: BadRows, rows: readonly ListedRow[], limit: number): SessionPage {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const sessions = summariesFromRows(badRows, page)
  return rows.length > limit && last !== undefined
    ? { sessions, nextCursor: encodeCursor(last) }
    : { sessions }
}

/** Reads what memory keeps of a project. */
async function readNewest(client: ClickHouseClient, project: string, limit: number): Promise<NewestRow[]> {
  let rows: NewestRow[] = []
  for (const windowMs of windowsMs) {
    const windowed = windowMs === Infinity ? '' : ' AND bucket <= {sinceBucket:UInt32}'
    const result = await client.query({
      query: longWindowSql({
        summary: newestSelect,
        sort_key: sortKeys.time,
        conditions: `project = {project:String}${windowed}`,
      }),
      query_params: {
        project,
        limit,
        ...(windowMs !== Infinity && { sinceBucket: hourBucket(Date.now() - windowMs) }),
      },
      format: 'JSONEachRow',
    })
    rows = await result.json<NewestRow>()
    if (rows.length >= limit) break
  }
  return rows
}

function orderOf({ sort, order }: ListQuery): Conditions {
  if (!sort.startsWith('score:')) return { sql: sortKeys[sort as keyof typeof sortKeys], params: {} }
  return {
    sql: `ifNull(${scoreNumberOf('sortScore')}, ${order === 'asc' ? '1e308' : '-1e308'})`,
    params: { sortScore: sort.slice('score:'.length) },
  }
}

function cacheReach(cacheKey: string, reachMs: number): void {
  if (reachCache.size >= MAX_CACHED_QUERIES) reachCache.clear()
  reachCache.set(cacheKey, reachMs)
}

/** How far back the page reached; all the way to `from` if there were not enough sessions. */
function reachOf(last: ListedRow | undefined, fromMs: number | undefined, endMs: number): number {
  return endMs - (last === undefined ? (fromMs ?? -Infinity) : last.started_us / 1_000)
}

/** A filter for one user or run matches few sessions, which may be old: trying recent windows first would only cost time. */
function isSelective({ user, thread, runId, variant, parent }: ListQuery): boolean {
  return [user, thread, runId, variant, parent].some((value) => value !== undefined)
}

/** The sessions with the text of a query, where each window would search for it again. */
async function findOnce(
  store: Pick<Store, 'client' | 'words'>,
  project: string,
  query: ListQuery,
): Promise<string[] | undefined> {
  const hasWindows = query.sort === 'time' && query.order === 'desc' && !isSelective(query)
  return hasWindows ? findByText(store, project, query.text) : undefined
}

/** The latest start time that the page can contain. */
function windowEnd(query: ListQuery): number {
  const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor)
  return Math.min(
    query.to ?? Infinity,
    cursor === undefined ? Infinity : cursor.started_us / 1000,
    Date.now(),
  )
}

function placeOf(cursor: string | undefined): SortedPlace | undefined {
  return cursor === undefined ? undefined : decodeCursor(cursor)
}

function encodeCursor({ sort_key, started_us, session_id }: ListedRow): string {
  return Buffer.from(JSON.stringify([sort_key, started_us, session_id])).toString('base64url')
}

function decodeCursor(cursor: string): SortedPlace {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parsed)) {
      const [sort_key, started_us, session_id] = parsed as unknown[]
      if (typeof sort_key === 'number' && Number.isInteger(started_us) && typeof session_id === 'string')
        return { sort_key, started_us: started_us as number, session_id }
    }
  } catch {
    // Not one of our cursors: falls through to the error below.
  }
  throw new KnownError('BAD_REQUEST', 'The cursor is not valid. Start again without it.')
}
