import type { Store } from '../store/connect.ts'
import { readPart, type FreshPart, type FreshRow } from './fresh-rows.ts'
import { KnownSessions } from './known-sessions.ts'
import { bytesOf, Slabs, type Piece } from './slabs.ts'

/** A session all of whose rows are in memory. */
export type FreshSession = {
  rows: FreshRow[]
  /** The buckets of `sessions` that it was written to. */
  buckets: readonly number[]
}

type Kept = {
  parts: { rows: number; piece: Piece }[]
  rows: number
  bytes: number
  buckets: readonly number[]
}

/** More than may wait for the store: a session that is forgotten before it is stored has to be read back. */
const MAX_ROWS = 90_000
const MAX_BYTES = 96 * 1024 * 1024
/** A session this long is read from the store: each refresh would parse all of it again. */
const MAX_ROWS_EACH = 2_000

/**
 * The rows of sessions that began lately, so that they need not be read back from the store to compute the session. Complete
 * or absent: a session that may have other rows in the store is not here.
 */
export class FreshSessions {
  readonly #known = new KnownSessions()
  /** By project and session, the oldest first. */
  readonly #sessions = new Map<string, Kept>()
  readonly #slabs = new Slabs()
  #rows = 0
  #bytes = 0

  /**
   * Reads which sessions are stored. Until then, none is fresh. With a ClickHouse server, none ever is: another node may have
   * stored some of its rows.
   */
  async readKnown({ client }: Pick<Store, 'client'>): Promise<void> {
    const { stream } = await client.exec({
      query: `SELECT DISTINCT reinterpretAsUInt64(unhex(substring(session_id, 1, 16))) FROM (
        SELECT session_id FROM steps UNION ALL SELECT session_id FROM logs) FORMAT RowBinary`,
    })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    this.#known.addStored(Buffer.concat(chunks))
  }

  /** Notes rows that are on disk. */
  note(project: string, parts: readonly FreshPart[]): void {
    for (const part of parts) {
      const key = `${project}\0${part.sessionId}`
      const session = this.#sessions.get(key) ?? this.#begin(key, part.sessionId)
      if (session === undefined) continue
      session.parts.push({ rows: part.rows, piece: this.#slabs.store(part.bytes) })
      this.#count(session, part.rows, part.bytes.length)
      if (session.rows > MAX_ROWS_EACH) this.#forgetKey(key)
    }
    for (const key of this.#sessions.keys()) {
      if (this.#rows <= MAX_ROWS && this.#bytes <= MAX_BYTES) break
      this.#forgetKey(key)
    }
  }

  /** Forgets sessions that have rows which were not noted. */
  forget(project: string, ids: Iterable<string>): void {
    for (const id of ids) {
      this.#forgetKey(`${project}\0${id}`)
      this.#known.checkAndAdd(id)
    }
  }

  /** Call it when rows were changed or deleted. */
  forgetAll(): void {
    for (const key of this.#sessions.keys()) this.#forgetKey(key)
  }

  /** The session, with the row that counts of each step; undefined if it has to be read. */
  find(project: string, id: string): FreshSession | undefined {
    const session = this.#sessions.get(`${project}\0${id}`)
    if (session === undefined) return undefined
    const rows = currentRows(
      session.parts.flatMap(({ rows, piece }) => readPart({ sessionId: id, rows, bytes: bytesOf(piece) })),
    )
    if (rows !== undefined) return { rows, buckets: session.buckets }
    this.forget(project, [id])
    return undefined
  }

  /** How many rows of the session are in memory; 0 if it has to be read. */
  rowsOf(project: string, id: string): number {
    return this.#sessions.get(`${project}\0${id}`)?.rows ?? 0
  }

  /** Notes where the row of a session was written. */
  written(project: string, id: string, bucket: number): void {
    const session = this.#sessions.get(`${project}\0${id}`)
    if (session !== undefined) session.buckets = [bucket]
  }

  #begin(key: string, id: string): Kept | undefined {
    if (this.#known.checkAndAdd(id)) return undefined
    const session: Kept = { parts: [], rows: 0, bytes: 0, buckets: [] }
    this.#sessions.set(key, session)
    return session
  }

  #count(session: Kept, rows: number, bytes: number): void {
    session.rows += rows
    session.bytes += bytes
    this.#rows += rows
    this.#bytes += bytes
  }

  #forgetKey(key: string): void {
    const session = this.#sessions.get(key)
    if (session === undefined) return
    this.#sessions.delete(key)
    for (const { piece } of session.parts) this.#slabs.free(piece)
    this.#count(session, -session.rows, -session.bytes)
  }
}

/** The row that counts of each step; undefined if a step has several finished copies, which only their payloads can join. */
function currentRows(rows: FreshRow[]): FreshRow[] | undefined {
  const current = new Map<string, FreshRow>()
  for (const row of rows) {
    const other = current.get(row.step_id)
    if (other?.is_finished === true && row.is_finished && other.arrival !== row.arrival) return undefined
    if (other === undefined || isBefore(row, other)) current.set(row.step_id, row)
  }
  return current.size === rows.length ? rows : [...current.values()]
}

/** As CURRENT_FIRST in steps-table.ts, for rows of which at most one is finished. */
function isBefore(row: FreshRow, other: FreshRow): boolean {
  if (row.is_finished !== other.is_finished) return row.is_finished
  if (row.version !== other.version) return row.version > other.version
  return row.received_ms > other.received_ms
}
