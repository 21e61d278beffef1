import { LOST_AFTER_MS, type SessionSummary } from '@playhead/model'
import { toCard, type ListedSession, type SummaryRow } from './sessions-table.ts'
import { parseObject } from './stored-fields.ts'

/** A row of `sessions` as far as a list needs it. The names are those of `newestSelect`. */
export type NewestRow = {
  session_id: string
  bucket: number
  version: number
  started_us: number
  ended_us: number | null
  heard_ms: number
  is_open: number
  settled_state: SessionSummary['endState']
  card: string
}

export const newestSelect = `session_id, bucket, version, toUnixTimestamp64Micro(started_at) AS started_us,
  toUnixTimestamp64Micro(ended_at) AS ended_us, toUnixTimestamp64Milli(last_heard_at) AS heard_ms, is_open,
  toString(settled_state) AS settled_state, card`

/** Where a page begins or memory ends: the start and the id of a session. */
export type Place = { started_us: number; session_id: string }

export type NewestQuestion = {
  limit: number
  /** Only sessions after this one in the list. */
  after?: Place | undefined
  /** The earliest start that is asked for. */
  fromUs?: number | undefined
  nowMs: number
  isWanted: (shown: Partial<SessionSummary>, row: SummaryRow) => boolean
}

type KnownRow = NewestRow & { shown?: Partial<SessionSummary> | undefined }
type Project = {
  /** Newest first. */
  rows: KnownRow[]
  byKey: Map<string, KnownRow>
  /** The oldest place from which on nothing is missing; undefined if all sessions are here. */
  floor: Place | undefined
  characters: number
  askedAtMs: number
}

export const MAX_ROWS = 2_000
const MAX_CHARACTERS = 4 * 1024 * 1024
const MAX_PROJECTS = 16
/** Nothing is done for a project that nobody looks at. */
const FORGET_MS = 600_000
/** Later times are no exact numbers. */
const MAX_US = 9e15

/**
 * The newest sessions of the projects that people look at, so that their lists need not ask the store. Exact: whoever
 * writes sessions tells it, and after any other change it is read again. Only for the embedded engine, where nobody else
 * writes.
 */
export class NewestSessions {
  readonly #projects = new Map<string, Project>()
  /** What was written while a project is being read. */
  readonly #loading = new Map<string, { written: ListedSession[]; done: Promise<void> }>()
  /** Projects that were asked for once: the second time, they are read. */
  readonly #asked = new Set<string>()
  /** By project and key: rows that are listed, and not in the store yet. */
  readonly #unstored = new Map<string, Map<string, ListedSession>>()
  #epoch = 0

  /** The rows of a page, and one more if there is a next one; undefined if the store has to be asked. */
  find(project: string, question: NewestQuestion): SummaryRow[] | undefined {
    const known = this.#projects.get(project)
    if (known === undefined) return undefined
    known.askedAtMs = performance.now()
    const { limit, after, fromUs, nowMs, isWanted } = question
    const found: SummaryRow[] = []
    for (let at = after === undefined ? 0 : firstAfter(known.rows, after); at < known.rows.length; at++) {
      const row = known.rows[at]!
      if (fromUs !== undefined && row.started_us < fromUs) return found
      const listed = asListed(row, nowMs)
      row.shown ??= readCard(row.card)
      if (row.shown === undefined) return undefined
      if (isWanted(row.shown, listed) && found.push(listed) === limit) return found
    }
    const isAllKnown = known.floor === undefined || (fromUs !== undefined && known.floor.started_us < fromUs)
    return isAllKnown ? found : undefined
  }

  /**
   * Reads a project that was asked for again, or at once if the store can't be asked instead. `read` returns the newest sessions, in
   * the order of the list.
   */
  async load(project: string, read: (limit: number) => Promise<NewestRow[]>): Promise<void> {
    const isWanted = this.isAhead(project) || this.#asked.has(project)
    if (!isWanted) return void this.#asked.add(project)
    while (!this.#projects.has(project)) {
      const epoch = this.#epoch
      await (this.#loading.get(project)?.done ?? this.#load(project, read))
      // Emptied meanwhile: who needs it now reads it again.
      if (epoch === this.#epoch || !this.isAhead(project)) return
    }
  }

  #load(project: string, read: (limit: number) => Promise<NewestRow[]>): Promise<void> {
    const epoch = this.#epoch
    const written = [...(this.#unstored.get(project)?.values() ?? [])]
    const done = this.#readInto(project, written, { read, epoch })
    this.#loading.set(project, { written, done })
    return done
  }

  async #readInto(
    project: string,
    written: readonly ListedSession[],
    { read, epoch }: { read: (limit: number) => Promise<NewestRow[]>; epoch: number },
  ): Promise<void> {
    try {
      const rows = await read(MAX_ROWS + 1)
      if (epoch !== this.#epoch) return
      this.#projects.set(project, projectOf(rows))
    } finally {
      if (this.#loading.get(project)?.written === written) this.#loading.delete(project)
    }
    if (this.#projects.size > MAX_PROJECTS) this.#projects.delete(this.#projects.keys().next().value!)
    this.#note(written)
  }

  /** Notes rows that will be in the store, so that they are never missing from a list in between. */
  list(rows: readonly ListedSession[]): void {
    for (const row of rows) {
      const unstored = this.#unstored.get(row.project) ?? new Map<string, ListedSession>()
      this.#unstored.set(row.project, unstored.set(keyOf(row.bucket, row.summary.id), row))
    }
    this.#note(rows)
  }

  /** Whether the store lacks rows of the project that were listed: then it can't be asked instead of memory. */
  isAhead(project: string): boolean {
    return this.#unstored.has(project)
  }

  /** Notes rows that are in the store now. */
  write(rows: readonly ListedSession[]): void {
    for (const { project, bucket, summary, version } of rows) {
      const key = keyOf(bucket, summary.id)
      const unstored = this.#unstored.get(project)?.get(key)
      if (unstored !== undefined && unstored.version <= version) this.#drop(project, [key])
    }
    this.#note(rows)
  }

  /** The store has all rows of these sessions. Returns whether others were listed, which are wrong now. */
  settle(project: string, ids: readonly string[]): boolean {
    const unstored = this.#unstored.get(project)
    if (unstored === undefined) return false
    const wanted = new Set(ids)
    const left = [...unstored].flatMap(([key, { summary }]) => (wanted.has(summary.id) ? [key] : []))
    this.#drop(project, left)
    return left.length > 0
  }

  #drop(project: string, keys: readonly string[]): void {
    const unstored = this.#unstored.get(project)
    for (const key of keys) unstored?.delete(key)
    if (unstored?.size === 0) this.#unstored.delete(project)
  }

  #note(rows: readonly ListedSession[]): void {
    for (const row of rows) {
      this.#loading.get(row.project)?.written.push(row)
      const known = this.#projects.get(row.project)
      if (known === undefined) continue
      const isKept =
        performance.now() - known.askedAtMs < FORGET_MS &&
        row.startedAtMs >= 0 &&
        (row.startedAtMs + (row.summary.durationMs ?? 0)) * 1_000 < MAX_US
      if (isKept) writeRow(known, row)
      else this.#projects.delete(row.project)
    }
  }

  /** Call it when sessions were deleted, or may have changed. */
  forget(): void {
    this.#epoch += 1
    this.#projects.clear()
    this.#loading.clear()
    this.#asked.clear()
  }
}

/** Undefined if it is damaged: the store is asked then, and says so. */
function readCard(card: string): Partial<SessionSummary> | undefined {
  try {
    return parseObject(card)
  } catch {
    return undefined
  }
}

/** Rows of earlier versions have no card; memory ends before the first of them. */
function projectOf(rows: NewestRow[]): Project {
  const end = rows.findIndex(({ card }) => card === '')
  const known: Project = {
    rows: end === -1 ? rows : rows.slice(0, end),
    byKey: new Map(),
    floor: end === -1 ? undefined : rows[end],
    characters: 0,
    askedAtMs: performance.now(),
  }
  for (const row of known.rows) {
    known.byKey.set(keyOf(row.bucket, row.session_id), row)
    known.characters += row.card.length
  }
  trim(known)
  return known
}

function trim(known: Project): void {
  while (known.rows.length > MAX_ROWS || known.characters > MAX_CHARACTERS) {
    known.floor = known.rows.at(-1)!
    remove(known, known.rows.at(-1)!)
  }
}

function remove(known: Project, row: KnownRow): void {
  known.rows.splice(firstAfter(known.rows, row) - 1, 1)
  known.byKey.delete(keyOf(row.bucket, row.session_id))
  known.characters -= row.card.length
}

function writeRow(known: Project, row: ListedSession): void {
  const earlier = known.byKey.get(keyOf(row.bucket, row.summary.id))
  if (earlier !== undefined) {
    if (earlier.version > row.version) return
    remove(known, earlier)
  }
  if (row.isDeleted) return
  const place = { started_us: Math.round(row.startedAtMs * 1_000), session_id: row.summary.id }
  if (known.floor !== undefined && compare(place, known.floor) >= 0) return
  const written = toNewestRow(row, place)
  known.rows.splice(firstAfter(known.rows, place), 0, written)
  known.byKey.set(keyOf(row.bucket, place.session_id), written)
  known.characters += written.card.length
  trim(known)
}

function toNewestRow(row: ListedSession, place: Place): NewestRow {
  return {
    ...place,
    bucket: row.bucket,
    version: row.version,
    ended_us: Math.round((row.startedAtMs + (row.summary.durationMs ?? 0)) * 1_000),
    heard_ms: Math.round(row.lastHeardAtMs),
    is_open: row.endState.isOpen ? 1 : 0,
    settled_state: row.endState.whenSilent,
    card: toCard(row.summary),
  }
}

/** As STATE and DURATION_MS in sessions-table.ts. */
function asListed(row: NewestRow, nowMs: number): SummaryRow {
  const { session_id, started_us, ended_us, card } = row
  const isRunning = row.is_open === 1 && Math.abs(nowMs - row.heard_ms) <= LOST_AFTER_MS
  return {
    session_id,
    state: isRunning ? 'running' : row.settled_state,
    started_us,
    ended_us,
    duration_ms: isRunning || ended_us === null ? null : (ended_us - started_us) / 1_000,
    card,
  }
}

function keyOf(bucket: number, id: string): string {
  return `${bucket} ${id}`
}

/** Negative if `left` comes before `right` in the list. */
function compare(left: Place, right: Place): number {
  if (left.started_us !== right.started_us) return right.started_us - left.started_us
  return left.session_id === right.session_id ? 0 : left.session_id > right.session_id ? -1 : 1
}

function firstAfter(rows: readonly NewestRow[], place: Place): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(rows[middle]!, place) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
