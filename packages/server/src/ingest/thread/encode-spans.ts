import type { DialectFailure, Pricer, StepOutline } from '@playhead/model'
import { MAX_LIVE_BATCH } from '../../live/live-feed.ts'
import { NativeBlock } from '../../log/native-block.ts'
import { FreshRows } from '../../sessions/fresh-rows.ts'
import { stepColumns } from '../../store/steps-table.ts'
import { decodeTraces } from '../http/decode-otlp.ts'
import type { Rejection } from '../rejection.ts'
import type { ContentFormat } from '../span-thread.ts'
import { cacheText, limitEnvelopeCopies, LiveOutlines, stepRows } from '../step-rows.ts'

/** A request, as another thread gets it. */
export type EncodeJob = {
  id: number
  project: string
  /** In the pieces in which it arrived. */
  body: ArrayBuffer[]
  format: ContentFormat
  isRewrite: boolean
  receivedAtMs: number
  revision: number
  firstArrival: number
  /** How many numbers were reserved from the first one on. */
  arrivals: number
  /** Memory to write the result to. */
  spare: ArrayBuffer | undefined
}

/** What other threads send back: the rows in Native format, then what sessions are computed from. */
export type EncodeResult = {
  id: number
  memory: ArrayBuffer
  rows: number
  columns: number
  rowBytes: number
  parts: { sessionId: string; rows: number; bytes: number }[]
  traceIds: string[]
  /** Of steps that may begin a session. */
  outlines: StepOutline[]
  rejected: Rejection[]
  failures: DialectFailure[]
}

const block = new NativeBlock(stepColumns)
const COLUMNS = Object.keys(stepColumns).length
/** What is reused should fit the next request too. */
const HEADROOM = 1.25

/** Reads the spans of a request and encodes their rows. Throws where the whole request has to be refused, or is not worth a thread. */
export function encodeSpans(job: EncodeJob, pricer: Pricer): EncodeResult {
  const { project, receivedAtMs, isRewrite, revision } = job
  const { items, rejected } = decodeTraces(joinPieces(job.body), job.format)
  const resourceText = cacheText()
  limitEnvelopeCopies(items, resourceText)
  if (items.length > Math.min(job.arrivals, MAX_LIVE_BATCH)) throw new RangeError('too many spans')
  const failures: DialectFailure[] = []
  const outlines = new LiveOutlines(false)
  const freshRows = new FreshRows()
  const touched = new Set<string>()
  let arrival = job.firstArrival
  const context = { receivedAtMs, isRewrite, nextArrival: () => arrival++, pricer, revision }
  const dialectFailures = { note: (some: readonly DialectFailure[]) => void failures.push(...some) }
  block.clear()
  const rows = stepRows(project, items, {
    ...context,
    dialectFailures,
    resourceText,
    outlines,
    freshRows,
    touched,
  })
  for (const row of rows) block.append(row)
  const parts = freshRows.end()
  const pieces = block.columnPieces()
  const rowBytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const memory = writeAll([...pieces, ...parts.map(({ bytes }) => bytes)], job.spare)
  return {
    id: job.id,
    memory,
    rows: block.rows,
    columns: COLUMNS,
    rowBytes,
    parts: parts.map(({ sessionId, rows: count, bytes }) => ({
      sessionId,
      rows: count,
      bytes: bytes.length,
    })),
    traceIds: [...touched],
    outlines: outlines.list,
    rejected,
    failures,
  }
}

/** Where bodies are joined. It is used again for each, because nothing that was read refers to it. */
let joined = Buffer.alloc(0)

function joinPieces(pieces: readonly ArrayBuffer[]): Buffer {
  if (pieces.length === 1) return Buffer.from(pieces[0]!)
  const size = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (joined.length < size) joined = Buffer.allocUnsafeSlow(Math.ceil(size * HEADROOM))
  let at = 0
  for (const piece of pieces) {
    joined.set(new Uint8Array(piece), at)
    at += piece.byteLength
  }
  return joined.subarray(0, size)
}

function writeAll(pieces: readonly Buffer[], spare: ArrayBuffer | undefined): ArrayBuffer {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const memory =
    spare !== undefined && spare.byteLength >= size ? spare : new ArrayBuffer(Math.ceil(size * HEADROOM))
  const bytes = new Uint8Array(memory)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return memory
}
