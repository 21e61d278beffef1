import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import type { Store } from '../store/connect.ts'
import type { PackedOutline } from '../store/packed-outline.ts'
import { RowBinaryReader } from '../store/row-binary.ts'
import { noteStoredJson, parseObject } from '../store/stored-fields.ts'
import { isPackedRow, payloadSize, type OutlineRow, type SpanRow } from '../store/steps-table.ts'
import {
  toOutlinesAndCopies,
  toStoredSpan,
  toStoredSpans,
  type OutlinesAndCopies,
  type RowFacts,
  type StoredSpan,
} from './stored-steps.ts'

type ReadRow = OutlineRow &
  RowFacts &
  Pick<SpanRow, 'attributes' | 'events' | 'resource' | 'started_ns' | 'ended_ns'> & {
    is_finished: number
    /** Parsed once, for the outline and the span. */
    part: PackedOutline | undefined
    attributesJson: Buffer
  }

/** As a span: the other columns of it are in its packed outline. */
type ReadSpanRow = ReadRow & SpanRow

/** A short session: all its outlines, and its spans except large ones. */
export type Beginning = { spans: StoredSpan[]; outlines: OutlinesAndCopies }

/** Columns as they are: for a few rows, planning an expression takes the engine longer than we need to compute it. */
const columns = `step_id, parent_id, scope_name, outline, cost, cost_source, version, arrival, received_at, started_at, ended_at,
  attributes, events, resource`

/**
 * Parts without the session are left out before anything is prepared to read them, and the analyzer for statements with joins and
 * subqueries is not asked. Other versions of ClickHouse may not know these settings.
 */
const quickPlan = { use_skip_indexes_on_data_read: 0, enable_analyzer: 0 } as ClickHouseSettings

/** Sessions with larger payloads are read in two statements. */
const MAX_READ_BYTES = 64 * 1024 * 1024
const MAX_RESULT_BYTES = 4 * 1024 * 1024
/** The JSON of attributes is kept as it was read as long as the session is in memory, unless there is more of it. */
const MAX_KEPT_BYTES = 1024 * 1024

/**
 * Reads a whole trace of few rows with outlines and payloads: one statement instead of two opens most sessions. Undefined if it has
 * more rows or larger payloads, or rows of earlier versions. In no order, because sorting takes the engine longer than us, too.
 */
export async function readBeginning(
  { client, badRows, engine }: Pick<Store, 'client' | 'badRows' | 'engine'>,
  project: string,
  { id, maxRows, largest }: { id: string; maxRows: number; largest: number },
): Promise<Beginning | undefined> {
  const { stream } = await client
    .exec({
      query: `SELECT ${columns} FROM steps WHERE project = {project:String} AND session_id = {id:String}
        LIMIT {limit:UInt32} FORMAT RowBinary`,
      query_params: { project, id, limit: maxRows + 1 },
      clickhouse_settings: {
        max_bytes_to_read: String(MAX_READ_BYTES),
        read_overflow_mode: 'throw',
        max_result_bytes: String(MAX_RESULT_BYTES),
        max_threads: 1,
        // A limit that is exceeded is an error then, and not the end of what was sent.
        wait_end_of_query: 1,
        ...(engine !== undefined && quickPlan),
      },
    })
    .catch((error: unknown) => {
      if (error instanceof ClickHouseError && tooLarge.has(error.type ?? '')) return { stream: undefined }
      throw error
    })
  if (stream === undefined) return undefined
  const bytes = await readAll(stream)
  const rows = readRows(id, new RowBinaryReader(bytes))
  if (rows.length > maxRows || !rows.every(isPackedRow)) return undefined
  const small = rows.filter(({ version }) => payloadSize(version) < largest)
  return {
    spans: toStoredSpans(
      badRows,
      small as unknown as ReadSpanRow[],
      bytes.length > MAX_KEPT_BYTES ? toStoredSpan : toNotedSpan,
    ),
    outlines: toOutlinesAndCopies(badRows, inOrder(rows)),
  }
}

const tooLarge: ReadonlySet<string> = new Set(['TOO_MANY_BYTES', 'TOO_MANY_ROWS_OR_BYTES'])

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function toNotedSpan(row: ReadSpanRow): StoredSpan {
  const stored = toStoredSpan(row)
  noteStoredJson(stored.span.attributes, row.attributesJson)
  return stored
}

function readRows(session_id: string, reader: RowBinaryReader): ReadRow[] {
  const rows: ReadRow[] = []
  while (reader.hasMore()) rows.push(readRow(session_id, reader))
  return rows
}

/** The columns in their order. */
function readRow(session_id: string, reader: RowBinaryReader): ReadRow {
  const text = {
    step_id: reader.text(),
    parent_id: reader.text(),
    scope_name: reader.text(),
    outline: reader.text(),
  }
  const cost = reader.nullable(() => reader.float64())
  const cost_source = reader.text()
  const version = reader.uint64()
  const arrival = Number(reader.int64())
  const received_ms = Number(reader.int64())
  const startedNs = reader.int64()
  const endedNs = reader.nullable(() => reader.int64())
  const attributesJson = reader.bytes()
  return {
    session_id,
    ...text,
    cost,
    cost_source,
    version,
    arrival,
    received_ms,
    started_ns: String(startedNs),
    started_us: microseconds(startedNs),
    ended_ns: endedNs === null ? null : String(endedNs),
    ended_us: endedNs === null ? null : microseconds(endedNs),
    is_finished: endedNs === null || endedNs === 0n ? 0 : 1,
    part: parseOutline(text.outline),
    attributesJson,
    attributes: attributesJson.toString(),
    events: reader.text(),
    resource: reader.text(),
  }
}

/** Undefined if it can't be parsed: whoever needs it says why. */
function parseOutline(text: string): PackedOutline | undefined {
  try {
    return parseObject(text)
  } catch {
    return undefined
  }
}

/** As the engine divides: rounded towards zero. */
function microseconds(ns: bigint): number {
  return Number(ns / 1_000n)
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
