import type { ClickHouseClient } from '@clickhouse/client'
import type { AuditEntry } from '../api/schemas/audit.ts'
import { isoTime } from '../store/iso-time.ts'

export type AuditFilter = {
  project?: string | undefined
  /** An action, or the group before its dot. */
  action?: string | undefined
  text?: string | undefined
  from?: string | undefined
  to?: string | undefined
  cursor?: string | undefined
  limit: number
}

type StoredEntry = Omit<AuditEntry, 'at' | 'caller'> & {
  time: string
  callerKind: AuditEntry['caller']['kind']
  callerId: string
  callerName: string
  address: string
}

const conditions = {
  project: 'project = {project:String}',
  action: "(action = {action:String} OR startsWith(action, concat({action:String}, '.')))",
  text: "positionCaseInsensitiveUTF8(concat(action, ' ', caller_name, ' ', address, ' ', subject, ' ', detail), {text:String}) > 0",
  from: 'at >= parseDateTime64BestEffort({from:String}, 3)',
  to: 'at < parseDateTime64BestEffort({to:String}, 3)',
  cursor: '(at, id) < (fromUnixTimestamp64Milli({cursorAt:Int64}), {cursorId:String})',
} as const satisfies Partial<Record<keyof AuditFilter, string>>

/** Reads entries of the audit log, newest first. */
export async function readAudit(
  client: ClickHouseClient,
  filter: AuditFilter,
): Promise<{ entries: AuditEntry[]; nextCursor?: string }> {
  const { limit, cursor, ...params } = filter
  const [cursorAt, cursorId] = cursor?.split('_') ?? []
  const asked = Object.entries(conditions)
    .filter(([name]) => filter[name as keyof typeof conditions] !== undefined)
    .map(([, sql]) => sql)
  // What the table's TTL has not removed yet does not show either.
  const where = ['at > now() - INTERVAL 400 DAY', ...asked].join(' AND ')
  const result = await client.query({
    query: `SELECT id, ${isoTime('at')} AS time, action, project, caller_kind AS callerKind,
        caller_id AS callerId, caller_name AS callerName, address, subject, detail
      FROM audit FINAL WHERE ${where} ORDER BY at DESC, id DESC LIMIT {limit:UInt32}`,
    query_params: { ...params, cursorAt, cursorId, limit: limit + 1 },
    format: 'JSONEachRow',
  })
  const rows = await result.json<StoredEntry>()
  const entries = rows.slice(0, limit).map(toEntry)
  const last = entries.at(-1)
  if (rows.length <= limit || last === undefined) return { entries }
  return { entries, nextCursor: `${Date.parse(last.at)}_${last.id}` }
}

function toEntry({ time, callerKind, callerId, callerName, address, ...entry }: StoredEntry): AuditEntry {
  return {
    ...entry,
    at: time,
    project: entry.project || null,
    caller: { kind: callerKind, id: callerId, name: callerName, address },
  }
}
