import { ClickHouseError } from '@clickhouse/client'
import type { Store } from '../store/connect.ts'
import {
  IS_FINISHED,
  isPackedRow,
  packedOutlineSelect,
  payloadSize,
  PAYLOAD_SIZE,
  spanTimes,
  type OutlineRow,
  type SpanRow,
} from '../store/steps-table.ts'
import {
  toOutlinesAndCopies,
  toStoredSpans,
  type OutlinesAndCopies,
  type RowFacts,
  type StoredSpan,
} from './stored-steps.ts'

type ReadRow = OutlineRow &
  RowFacts & {
    is_finished: number
    small_attributes: string
    small_events: string
    small_resource: string
  }

/** The beginning of a session: some of its spans, and all its outlines if it has no more rows. */
export type Beginning = { spans: StoredSpan[]; outlines: OutlinesAndCopies | undefined }

const ifSmall = (column: string) => `if(${PAYLOAD_SIZE} < {largest:UInt32}, ${column}, '') AS small_${column}`
/** What an outline and a span need. Large payloads are read but not sent. */
const selected = [packedOutlineSelect, spanTimes, ...['attributes', 'events', 'resource'].map(ifSmall)].join(
  ', ',
)

/** Sessions with larger payloads are read in two statements. */
const MAX_READ_BYTES = 64 * 1024 * 1024

/**
 * Reads the first rows of a trace with outlines and payloads: one statement instead of two opens most sessions. Undefined if
 * that would read too much, or rows of earlier versions. Leaves out large payloads.
 */
export async function readBeginning(
  { client, badRows }: Pick<Store, 'client' | 'badRows'>,
  project: string,
  { id, maxRows, largest }: { id: string; maxRows: number; largest: number },
): Promise<Beginning | undefined> {
  const rows = await client
    .query({
      query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, ${IS_FINISHED} AS is_finished, ${selected}
        FROM steps WHERE project = {project:String} AND session_id = {id:String}
        ORDER BY started_at, step_id LIMIT {limit:UInt32}
        SETTINGS max_bytes_to_read = ${MAX_READ_BYTES}, read_overflow_mode = 'throw'`,
      query_params: { project, id, largest, limit: maxRows + 1 },
      format: 'JSONEachRow',
    })
    .then(
      (result) => result.json<ReadRow>(),
      (error: unknown) => {
        if (error instanceof ClickHouseError && error.type === 'TOO_MANY_BYTES') return undefined
        throw error
      },
    )
  if (rows === undefined || !rows.every(isPackedRow)) return undefined
  const small = rows.filter(({ version }) => payloadSize(version) < largest)
  const isWhole = rows.length <= maxRows
  return {
    spans: toStoredSpans(badRows, small.map(asSpanRow)),
    outlines: isWhole ? toOutlinesAndCopies(badRows, inOrder(rows)) : undefined,
  }
}

/** The other columns of a span are in its packed outline. */
function asSpanRow({ small_attributes, small_events, small_resource, ...row }: ReadRow): SpanRow & RowFacts {
  return {
    ...row,
    attributes: small_attributes,
    events: small_events,
    resource: small_resource,
  } as unknown as SpanRow & RowFacts
}

/** As in outlines-of-sessions.sql: by step, the row that counts first (CURRENT_FIRST), one of each copy. */
function inOrder(rows: readonly ReadRow[]): ReadRow[] {
  const sorted = rows.toSorted(
    (left, right) =>
      compareText(left.step_id, right.step_id) ||
      right.is_finished - left.is_finished ||
      left.arrival - right.arrival ||
      right.version - left.version ||
      right.received_ms - left.received_ms,
  )
  return sorted.filter((row, index) => {
    const before = sorted[index - 1]
    return !(
      before?.step_id === row.step_id &&
      before.is_finished === row.is_finished &&
      before.arrival === row.arrival
    )
  })
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1
}
