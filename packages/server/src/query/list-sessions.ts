import type { ClickHouseClient } from '@clickhouse/client'
import type { SessionSummary } from '@playhead/model'
import { z } from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { loadSql } from '../store/load-sql.ts'
import { sessionConditions, sessionFilterSchema, type Conditions } from './session-filter.ts'
import {
  DURATION_MS,
  hourBucket,
  summaryFromRow,
  summarySelect,
  type SummaryRow,
} from '../store/sessions-table.ts'

const longWindowSql = loadSql(new URL('./list-sessions.sql', import.meta.url))
const shortWindowSql = loadSql(new URL('./list-recent-sessions.sql', import.meta.url))

const sessionOrders = ['time', 'cost', 'duration', 'steps', 'errors', 'tokens'] as const

export const listQuerySchema = sessionFilterSchema.extend({
  sort: z.enum(sessionOrders).default('time'),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
  cursor: z.string().optional().describe('`nextCursor` of the page before'),
})

export type ListQuery = z.infer<typeof listQuerySchema>
type ListedRow = SummaryRow & { sort_key: number }
export type SessionPage = { sessions: SessionSummary[]; nextCursor?: string }

/** Sessions without the number to sort by come last; ±1e308 survives JSON, infinity does not. */
const sortKeys: Record<(typeof sessionOrders)[number], string> = {
  time: 'toFloat64(toUnixTimestamp64Micro(started_at))',
  cost: 'ifNull(cost, -1e308)',
  duration: `ifNull(${DURATION_MS}, -1e308)`,
  steps: 'toFloat64(step_count)',
  errors: 'toFloat64(error_count)',
  tokens: "toFloat64(usage['input'] + usage['output'])",
}

const DAY_MS = 86_400_000
/** Newest first, a page is mostly found in the last day; only when it is not are older sessions looked at. */
const windowsMs = [DAY_MS, 14 * DAY_MS, Infinity]
/** How far back the answer to a question was found. It is asked again and again, and then shorter windows are left out. */
const enoughMs = new Map<string, number>()
const REMEMBERED_QUESTIONS = 1_000

export async function listSessions(
  client: ClickHouseClient,
  project: string,
  query: ListQuery,
): Promise<SessionPage> {
  const sortKey = `${query.order === 'asc' ? '-' : ''}(${sortKeys[query.sort]})`
  const conditions = sessionConditions(project, query)
  addCursor(conditions, query.cursor, sortKey)
  const isNewestFirst = query.sort === 'time' && query.order === 'desc'
  const endMs = windowEnd(query)
  const question = `${project}\0${JSON.stringify({ ...query, cursor: '', from: '' })}`
  const knownMs = enoughMs.get(question) ?? 0
  // One more than asked for tells whether there is a next page.
  const limit = query.limit + 1
  let rows: ListedRow[] = []
  for (const windowMs of isNewestFirst && !isFewOnly(query) ? windowsMs : [Infinity]) {
    if (windowMs < knownMs) continue
    rows = await readPage(client, conditions, {
      sortKey,
      limit,
      since: windowMs === Infinity ? undefined : endMs - windowMs,
      isShort: windowMs <= DAY_MS,
    })
    if (rows.length >= limit) break
  }
  if (isNewestFirst) remember(question, reachOf(rows[limit - 1], query.from, endMs))
  const page = rows.slice(0, query.limit)
  const last = page.at(-1)
  const sessions = page.map(summaryFromRow)
  return rows.length > query.limit && last !== undefined
    ? { sessions, nextCursor: encodeCursor(last.sort_key, last.session_id) }
    : { sessions }
}

function remember(question: string, reachMs: number): void {
  if (enoughMs.size >= REMEMBERED_QUESTIONS) enoughMs.clear()
  enoughMs.set(question, reachMs)
}

/** How far back one has to look to find as many; as far as there may be any when there are fewer. */
function reachOf(last: ListedRow | undefined, fromMs: number | undefined, endMs: number): number {
  return endMs - (last === undefined ? (fromMs ?? -Infinity) : last.started_us / 1_000)
}

/** Sessions of one user or run are few and may be old: looking at the last days first would only take longer. */
function isFewOnly({ user, thread, runId, variant }: ListQuery): boolean {
  return [user, thread, runId, variant].some((value) => value !== undefined)
}

async function readPage(
  client: ClickHouseClient,
  conditions: Conditions,
  page: { sortKey: string; limit: number; since: number | undefined; isShort: boolean },
): Promise<ListedRow[]> {
  const windowed = page.since === undefined ? '' : ' AND bucket <= {sinceBucket:UInt32}'
  const sql = page.isShort ? shortWindowSql : longWindowSql
  const result = await client.query({
    query: sql({
      summary: summarySelect,
      sort_key: page.sortKey,
      conditions: conditions.sql + windowed,
    }),
    query_params: {
      ...conditions.params,
      limit: page.limit,
      ...(page.since !== undefined && { sinceBucket: hourBucket(page.since) }),
    },
    format: 'JSONEachRow',
  })
  return result.json<ListedRow>()
}

/** Where the page begins, in time. */
function windowEnd(query: ListQuery): number {
  const [cursorUs] = query.cursor === undefined ? [] : decodeCursor(query.cursor)
  return Math.min(query.to ?? Infinity, cursorUs === undefined ? Infinity : cursorUs / 1000, Date.now())
}

function addCursor(conditions: Conditions, cursor: string | undefined, sortKey: string): void {
  if (cursor === undefined) return
  const [value, id] = decodeCursor(cursor)
  conditions.sql += ` AND (${sortKey}, session_id) < ({cursorValue:Float64}, {cursorId:String})`
  Object.assign(conditions.params, { cursorValue: value, cursorId: id })
}

function encodeCursor(value: number, id: string): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url')
}

function decodeCursor(cursor: string): [value: number, id: string] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parsed) && typeof parsed[0] === 'number' && typeof parsed[1] === 'string')
      return [parsed[0], parsed[1]]
  } catch {
    // Falls through to the error below: what can't be decoded was not made by us.
  }
  throw new KnownError('BAD_REQUEST', 'The cursor is not one that this server gave. Start again without it.')
}
