import type { ClickHouseClient } from '@clickhouse/client'
import { SEGMENTS_PER_NODE } from '../log/segment-ids.ts'

const RANGE = Number(SEGMENTS_PER_NODE)
/** A Monday after all that was received: nothing is built. */
const NOTHING_BUILT_MS = Date.UTC(2200, 0, 6)

/** How far the words of steps from before the table `words` are built: those received before `beforeMs` are missing. */
export type Backlog = {
  beforeMs: number
  /** Where the work on the last week before that stands. */
  project: string
  sessionId: string
}

type Reading = { marks: ReadonlyMap<number, number>; backlog: Backlog }

/**
 * Knows which steps have their words in the table `words`: of each range of segment ids, those up to a segment. An outdated
 * reading only names more steps than necessary.
 */
export class WordMarks {
  readonly #client: ClickHouseClient
  /** Whether other servers may use the store. */
  readonly #isShared: boolean
  #latest: Reading = {
    marks: new Map(),
    backlog: { beforeMs: NOTHING_BUILT_MS, project: '', sessionId: '' },
  }
  /** What searches go by: of a shared store the reading before, since another node of it may lag behind. */
  #searched = this.#latest
  #isRead = false
  #version = 1

  constructor(client: ClickHouseClient, isShared: boolean) {
    this.#client = client
    this.#isShared = isShared
  }

  /** Call it when the tables are there, and again from time to time if others use the store. */
  async read(): Promise<void> {
    const [known, marks] = await Promise.all([this.#readBacklog(), this.#readMarks()])
    const backlog = known ?? (await this.#begin())
    const rows = known === undefined ? await this.#readMarks() : marks
    const latest = { marks: new Map(rows.map(({ range, last }) => [range, last])), backlog }
    this.#searched = this.#isShared && this.#isRead ? this.#latest : latest
    this.#latest = latest
    this.#isRead = true
  }

  /** SQL: which rows of `steps` a search has to look at itself. */
  get missing(): string {
    const { backlog } = this.#searched
    const recent = newerThan(this.#searched.marks)
    return backlog.beforeMs > 0
      ? `(${recent} OR received_at < fromUnixTimestamp64Milli(${backlog.beforeMs}))`
      : `(${recent})`
  }

  /** SQL: which rows of `steps` are in segments whose words are not built. */
  get newer(): string {
    return newerThan(this.#latest.marks)
  }

  get backlog(): Backlog {
    return this.#latest.backlog
  }

  get isBacklogDone(): boolean {
    return this.#latest.backlog.beforeMs <= 0
  }

  /** Up to where the words of its range are built. */
  lastBefore(segment: number): number {
    const range = rangeOf(segment)
    return this.#latest.marks.get(range) ?? Math.max(0, range * RANGE - 1)
  }

  /** Notes that all words up to a segment of its range are built. */
  async advance(segment: number): Promise<void> {
    const range = rangeOf(segment)
    await this.#client.command({
      query: 'INSERT INTO word_marks (range, segment) SELECT {range:UInt32}, {segment:UInt64}',
      query_params: { range, segment },
    })
    this.#note({ ...this.#latest, marks: new Map(this.#latest.marks).set(range, segment) })
  }

  async moveBacklog(backlog: Backlog): Promise<void> {
    await this.#writeBacklog(backlog, this.#version + 1)
    this.#version += 1
    this.#note({ ...this.#latest, backlog })
  }

  /** All words are to be built again. Until then, searches read the steps. */
  async reset(): Promise<void> {
    await this.moveBacklog({ beforeMs: NOTHING_BUILT_MS, project: '', sessionId: '' })
  }

  #note(reading: Reading): void {
    this.#latest = reading
    if (!this.#isShared) this.#searched = reading
  }

  /** The first start with these tables: the words of all steps that are there now are missing. */
  async #begin(): Promise<Backlog> {
    const [step] = await this.#rows('SELECT 1 FROM steps LIMIT 1')
    await this.#client.command({
      query: `INSERT INTO word_marks (range, segment)
        SELECT intDiv(segment, ${RANGE}), max(segment) FROM steps
        WHERE segment > 0 AND (SELECT count() FROM word_backlog) = 0 GROUP BY 1`,
    })
    const backlog = { beforeMs: step === undefined ? 0 : NOTHING_BUILT_MS, project: '', sessionId: '' }
    await this.#writeBacklog(backlog, 1)
    return backlog
  }

  #readMarks(): Promise<{ range: number; last: number }[]> {
    return this.#rows('SELECT range, max(segment) AS last FROM word_marks GROUP BY range')
  }

  async #writeBacklog({ beforeMs, project, sessionId }: Backlog, version: number): Promise<void> {
    await this.#client.command({
      query: `INSERT INTO word_backlog (id, before, project, session_id, version)
        SELECT 0, fromUnixTimestamp64Milli({beforeMs:Int64}), {project:String}, {sessionId:String}, {version:UInt64}`,
      query_params: { beforeMs, project, sessionId, version },
    })
  }

  async #readBacklog(): Promise<Backlog | undefined> {
    const [row] = await this.#rows<{ ms: number; project: string; session_id: string; version: number }>(
      `SELECT toUnixTimestamp64Milli(before) AS ms, project, session_id, version FROM word_backlog
        ORDER BY version DESC LIMIT 1`,
    )
    this.#version = Math.max(this.#version, row?.version ?? 0)
    return row === undefined
      ? undefined
      : { beforeMs: row.ms, project: row.project, sessionId: row.session_id }
  }

  async #rows<Row>(query: string): Promise<Row[]> {
    const result = await this.#client.query({ query, format: 'JSONEachRow' })
    return result.json<Row>()
  }
}

/** The range of a segment: each server numbers its segments in one of its own. */
export function rangeOf(segment: number): number {
  return Math.floor(segment / RANGE)
}

/** Between the marks, so that the index of segments can be used. Copies that the store itself made have segment 0. */
function newerThan(marks: ReadonlyMap<number, number>): string {
  const built = [...marks].sort(([left], [right]) => left - right)
  const starts = [...built.map(([range]) => range * RANGE), undefined]
  return starts
    .map((end, index) => {
      const after = built[index - 1]?.[1] ?? 0
      return end === undefined ? `segment > ${after}` : `(segment > ${after} AND segment < ${end})`
    })
    .filter((condition) => condition !== '(segment > 0 AND segment < 0)')
    .join(' OR ')
}
