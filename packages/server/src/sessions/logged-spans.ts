import type { LoggedValue } from '../log/read-columns.ts'
import type { BadRows } from '../store/bad-rows.ts'
import type { SpanRow } from '../store/steps-table.ts'
import { toStoredSpans, type RowFacts, type StoredSpan } from './stored-steps.ts'

/** What `spanFromRow` needs of a row of the log, whose outline is always packed. */
const texts = [
  'session_id',
  'step_id',
  'parent_id',
  'scope_name',
  'outline',
  'attributes',
  'events',
  'resource',
] as const
const numbers = ['version', 'arrival', 'received_at', 'started_at', 'ended_at'] as const
const names = ['project', ...texts, ...numbers] as const

type Name = (typeof names)[number]

export type PendingLog = {
  readPending(
    names: readonly Name[],
    sessions: readonly string[],
  ): Promise<Record<Name, LoggedValue>[] | undefined>
}

/** Reads the rows of some traces that are on their way into the store, payloads included, in no order. Undefined if that can't be told. */
export async function readLoggedSpans(
  log: PendingLog,
  badRows: BadRows,
  { project, traceIds }: { project: string; traceIds: readonly string[] },
): Promise<StoredSpan[] | undefined> {
  const rows = await log.readPending(
    names,
    traceIds.map((id) => `${project}\0${id}`),
  )
  const own = rows?.filter((row) => row.project === project && traceIds.includes(String(row.session_id)))
  return own && toStoredSpans(badRows, own.map(toSpanRow))
}

function toSpanRow(row: Record<Name, LoggedValue>): SpanRow & RowFacts {
  const own = Object.fromEntries(texts.map((name) => [name, row[name]]))
  return {
    ...(own as unknown as SpanRow),
    version: Number(row.version),
    arrival: Number(row.arrival),
    received_ms: Number(row.received_at),
    started_ns: String(row.started_at),
    ended_ns: row.ended_at === null ? null : String(row.ended_at),
  }
}
