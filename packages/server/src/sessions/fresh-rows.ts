import { GrowingBuffer } from '../log/growing-buffer.ts'
import type { PackedOutline } from '../store/packed-outline.ts'
import { toOutlineFacts, type OutlineFacts, type StepRow } from '../store/steps-table.ts'
import type { RowFacts } from './stored-steps.ts'

/** A row of `steps` as a read from the store would return it, without its payload. */
export type FreshRow = OutlineFacts & RowFacts & { is_finished: boolean; packed: PackedOutline }

/** The rows of one session that arrived together, encoded. */
export type FreshPart = { sessionId: string; rows: number; bytes: Buffer }

/** The short texts of a row. */
type Head = [stepId: string, parentId: string, scope: string, costSource: string]

/** The numbers of a row: start, end, cost, receipt, version, arrival, whether it is finished. NaN stands for null. */
const NUMBERS = 7
const NUMBER_BYTES = 8
const [COMMA, OPEN_LIST, CLOSE_LIST] = [44, 91, 93]

const FIRST_BYTES = 256 * 1024
const MAX_KEPT_BYTES = 4 * 1024 * 1024
/** Where a batch is encoded. Shared, because one is encoded at a time. */
let scratch = new GrowingBuffer(FIRST_BYTES)

/**
 * Encodes the rows of a batch, so that they can wait for the store outside of the heap: as objects, tens of thousands of them took
 * the garbage collector as long as reading the spans. A part is the numbers of its rows, then JSON: a list of their short texts, and each packed outline.
 */
export class FreshRows {
  readonly #parts: { sessionId: string; rows: number; end: number }[] = []
  #rows: StepRow[] = []

  constructor() {
    if (scratch.bytes.length > MAX_KEPT_BYTES) scratch = new GrowingBuffer(FIRST_BYTES)
    scratch.length = 0
  }

  add(row: StepRow): void {
    if (this.#rows.length > 0 && this.#rows[0]!.span.traceId !== row.span.traceId) this.#encode()
    this.#rows.push(row)
  }

  /** Call it after the last row, before another batch begins. */
  end(): FreshPart[] {
    if (this.#rows.length > 0) this.#encode()
    const bytes = Buffer.from(scratch.contents())
    let start = 0
    return this.#parts.map(({ sessionId, rows, end }) => {
      const part = { sessionId, rows, bytes: bytes.subarray(start, end) }
      start = end
      return part
    })
  }

  #encode(): void {
    const rows = this.#rows
    this.#rows = []
    const facts = rows.map(toOutlineFacts)
    for (const [index, row] of rows.entries()) writeNumbers(row, facts[index]!)
    const heads = facts.map(({ step_id, parent_id, scope_name, cost_source }): Head => [
      step_id,
      parent_id,
      scope_name,
      cost_source,
    ])
    scratch.writeByte(OPEN_LIST)
    scratch.writeText(JSON.stringify(heads))
    for (const { packed } of rows) {
      scratch.writeByte(COMMA)
      scratch.writeText(packed)
    }
    scratch.writeByte(CLOSE_LIST)
    this.#parts.push({ sessionId: rows[0]!.span.traceId, rows: rows.length, end: scratch.length })
  }
}

function writeNumbers({ span, receivedAtMs, version, arrival }: StepRow, facts: OutlineFacts): void {
  const { started_us, ended_us, cost } = facts
  scratch.reserve(NUMBERS * NUMBER_BYTES)
  const isFinished = span.endNs !== null && span.endNs !== 0n
  const { view, length } = scratch
  view.setFloat64(length, started_us, true)
  view.setFloat64(length + NUMBER_BYTES, ended_us ?? NaN, true)
  view.setFloat64(length + 2 * NUMBER_BYTES, cost ?? NaN, true)
  view.setFloat64(length + 3 * NUMBER_BYTES, receivedAtMs, true)
  view.setFloat64(length + 4 * NUMBER_BYTES, version, true)
  view.setFloat64(length + 5 * NUMBER_BYTES, arrival, true)
  view.setFloat64(length + 6 * NUMBER_BYTES, isFinished ? 1 : 0, true)
  scratch.length += NUMBERS * NUMBER_BYTES
}

export function readPart({ sessionId, rows, bytes }: FreshPart): FreshRow[] {
  const texts = bytes.toString('utf8', rows * NUMBERS * NUMBER_BYTES)
  const [heads, ...packed] = JSON.parse(texts) as [Head[], ...PackedOutline[]]
  return heads.map((head, index) =>
    readRow(sessionId, head, { packed: packed[index]!, bytes, at: index * NUMBERS * NUMBER_BYTES }),
  )
}

function readRow(
  session_id: string,
  [step_id, parent_id, scope_name, cost_source]: Head,
  { packed, bytes, at }: { packed: PackedOutline; bytes: Buffer; at: number },
): FreshRow {
  const number = (index: number) => bytes.readDoubleLE(at + index * NUMBER_BYTES)
  return {
    session_id,
    step_id,
    parent_id,
    scope_name,
    started_us: number(0),
    ended_us: orNull(number(1)),
    cost: orNull(number(2)),
    cost_source,
    received_ms: number(3),
    version: number(4),
    arrival: number(5),
    is_finished: number(6) === 1,
    packed,
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}
