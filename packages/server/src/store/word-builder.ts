import type { Store } from './connect.ts'
import { asStoreError } from './store-error.ts'
import { rangeOf, type WordMarks } from './word-marks.ts'
import { insertWords } from './words-table.ts'

/** Enough that a session's words are rarely collected twice. It takes the engine 5 KB a row. */
const BATCH_ROWS = 25_000
const CHECK_MS = 1_000
const RETRY_MS = 10_000
const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** Of a shared store: how long a node of it may take to receive what another has. */
const SETTLE_MS = 10_000
/** While there is time, words are built when so many rows wait, or have waited so long: a search has to read those. */
const SOON = { rows: 10_000, ms: 5_000 }
/** While there is none, they wait for longer. */
const LATE = { rows: 500_000, ms: 40_000 }
/** So many rows a second, over so long, leave no time: collecting the words of a row takes as long as storing it. */
const BUSY = { rowsPerSecond: 15_000, ms: 2_000 }

type BuilderOptions = {
  store: Store
  /** Of several servers on one store, one builds words. */
  nodes: { isLeader(): boolean; isShared: boolean }
  report: (line: string) => void
}

/** The log of steps, as far as words depend on it. */
export type StepsLog = { pendingIds: readonly bigint[]; isBusy: boolean }

type Stored = { segment: number; rows: number }
type Batch = { from: number; to: number; rows: number }

/**
 * Builds the table `words` from the steps that were stored, some seconds later and many at a time: collecting the words takes
 * the engine longer than storing the steps. Searches read steps whose words are not built yet.
 */
export class WordBuilder {
  readonly #options: BuilderOptions
  #log: StepsLog = { pendingIds: [], isBusy: false }
  #work: Promise<void> = Promise.resolve()
  /** An earlier process may have left some. */
  #waiting = { rows: 0, sinceMs: -Infinity, isUnknown: true }
  /** What was stored lately. */
  #recent = { sinceMs: -Infinity, rows: 0, rowsPerSecond: 0 }
  /** Those whose words are being collected. */
  #rowsInWork = 0
  /** Of a shared store: the segments that were there a while ago. */
  #settled: { atMs: number; segments: ReadonlySet<number> } = { atMs: -Infinity, segments: new Set() }
  #lastProblem = ''
  #retryAtMs = -Infinity
  #isStopped = false

  constructor(options: BuilderOptions) {
    this.#options = options
  }

  /** Builds words from time to time, until the cleanups run. */
  start(log: StepsLog, cleanups: (() => unknown)[]): void {
    this.#log = log
    let isRunning = false
    const timer = setInterval(() => {
      if (isRunning || !this.isDue()) return
      isRunning = true
      void this.build().finally(() => (isRunning = false))
    }, CHECK_MS)
    cleanups.push(async () => {
      this.#isStopped = true
      clearInterval(timer)
      await this.#work
    })
  }

  /** So many rows were stored. */
  note(rows: number, nowMs = performance.now()): void {
    if (this.#waiting.rows === 0) this.#waiting.sinceMs = nowMs
    this.#waiting.rows += rows
    const { sinceMs } = this.#recent
    this.#recent.rows += rows
    if (nowMs - sinceMs < BUSY.ms) return
    const rowsPerSecond = (this.#recent.rows * 1_000) / Math.min(nowMs - sinceMs, 2 * BUSY.ms)
    this.#recent = { sinceMs: nowMs, rows: 0, rowsPerSecond }
  }

  /** Whether senders need the processor. What was stored long ago says nothing about that. */
  #isBusy(nowMs = performance.now()): boolean {
    const { sinceMs, rowsPerSecond } = this.#recent
    const isRecent = nowMs - sinceMs < 2 * BUSY.ms
    return this.#log.isBusy || (isRecent && rowsPerSecond >= BUSY.rowsPerSecond)
  }

  /** How many rows of this process wait for their words to be built. */
  get waitingRows(): number {
    return this.#waiting.rows + this.#rowsInWork
  }

  /** Builds what is missing. Resolves without it if the store is away: a later attempt builds it. */
  build(): Promise<void> {
    this.#work = this.#work.then(() =>
      this.#buildAll()
        .then(
          () => void (this.#lastProblem = ''),
          (error: Error) => this.#reportOnce(error),
        )
        .finally(() => (this.#rowsInWork = 0)),
    )
    return this.#work
  }

  /** After words were lost: collects all of them again. */
  buildAgain(): Promise<void> {
    const { store } = this.#options
    const emptied = this.#work.then(async () => {
      await store.words.reset()
      await store.client.command({ query: 'TRUNCATE TABLE words' })
    })
    this.#work = emptied.catch(() => undefined)
    return emptied
  }

  /** Whether it is time to build what waits. */
  isDue(nowMs = performance.now()): boolean {
    if (nowMs < this.#retryAtMs) return false
    if (this.#options.nodes.isShared) return nowMs - this.#settled.atMs >= SETTLE_MS
    const { rows, sinceMs, isUnknown } = this.#waiting
    const waitedMs = nowMs - sinceMs
    if (rows >= LATE.rows || (rows > 0 && waitedMs >= LATE.ms)) return true
    if (this.#isBusy(nowMs)) return false
    return isUnknown || rows >= SOON.rows || (rows > 0 && waitedMs >= SOON.ms) || this.#hasBacklog
  }

  get #hasBacklog(): boolean {
    return !this.#options.store.words.isBacklogDone
  }

  async #buildAll(): Promise<void> {
    const { store, nodes } = this.#options
    if (nodes.isShared) await store.words.read()
    if (!nodes.isLeader()) return void (this.#settled = { atMs: performance.now(), segments: new Set() })
    this.#rowsInWork = this.#waiting.rows
    this.#waiting = { rows: 0, sinceMs: performance.now(), isUnknown: true }
    const stored = await this.#rows<Stored>(
      `SELECT segment, count() AS rows FROM steps WHERE ${store.words.newer} GROUP BY segment ORDER BY segment`,
    )
    const complete = this.#complete(stored)
    for (const { from, to } of batchesOf(complete, store.words)) {
      if (this.#isStopped) return
      await insertWords(store, { condition: `segment > ${from} AND segment <= ${to}` })
      await store.words.advance(to)
    }
    this.#waiting.isUnknown = false
    this.#rowsInWork = 0
    const left = stored.filter((one) => !complete.includes(one))
    this.#waiting.rows += left.reduce((sum, { rows }) => sum + rows, 0)
    while (this.#hasBacklog && !this.#isBusy() && !this.#isStopped && this.#waiting.rows < SOON.rows)
      await this.#buildEarlier()
  }

  /** Those of which all rows are there: the log has no segment before them, and other servers have had time. */
  #complete(stored: readonly Stored[]): Stored[] {
    if (this.#options.nodes.isShared) {
      const { segments } = this.#settled
      this.#settled = { atMs: performance.now(), segments: new Set(stored.map(({ segment }) => segment)) }
      return stored.filter(({ segment }) => segments.has(segment))
    }
    const pending = this.#log.pendingIds.map(Number)
    return stored.filter(
      ({ segment }) => !pending.some((id) => id <= segment && rangeOf(id) === rangeOf(segment)),
    )
  }

  /** The next step of the work on what was stored before there were words, newest weeks first. */
  async #buildEarlier(): Promise<void> {
    const { store } = this.#options
    const { backlog } = store.words
    const startMs = backlog.beforeMs - WEEK_MS
    const params = { startMs, ...backlog }
    const rest = `received_at >= fromUnixTimestamp64Milli({startMs:Int64}) AND received_at < fromUnixTimestamp64Milli({beforeMs:Int64})
      AND (project > {project:String} OR (project = {project:String} AND session_id > {sessionId:String}))`
    const [end] = await this.#rows<{ last: [project: string, sessionId: string]; rows: number }>(
      `SELECT max((project, session_id)) AS last, count() AS rows FROM (
        SELECT toString(project) AS project, session_id FROM steps WHERE ${rest} ORDER BY project, session_id LIMIT ${BATCH_ROWS})`,
      params,
    )
    if (end === undefined || end.rows === 0) return this.#beginWeek(startMs)
    const [project, sessionId] = end.last
    const upTo =
      '(project < {endProject:String} OR (project = {endProject:String} AND session_id <= {endSession:String}))'
    await insertWords(store, {
      condition: `${rest} AND ${upTo}`,
      params: { ...params, endProject: project, endSession: sessionId },
    })
    await store.words.moveBacklog({ beforeMs: backlog.beforeMs, project, sessionId })
  }

  async #beginWeek(endMs: number): Promise<void> {
    const [newest] = await this.#rows<{ ms: number; rows: number }>(
      `SELECT toUnixTimestamp64Milli(max(received_at)) AS ms, count() AS rows FROM steps
        WHERE received_at < fromUnixTimestamp64Milli({endMs:Int64})`,
      { endMs },
    )
    const beforeMs = newest === undefined || newest.rows === 0 ? 0 : mondayAfter(newest.ms)
    await this.#options.store.words.moveBacklog({ beforeMs, project: '', sessionId: '' })
  }

  async #rows<Row>(query: string, params: Record<string, unknown> = {}): Promise<Row[]> {
    const result = await this.#options.store.client.query({
      query,
      query_params: params,
      format: 'JSONEachRow',
    })
    return result.json<Row>()
  }

  #reportOnce(error: Error): void {
    this.#retryAtMs = performance.now() + RETRY_MS
    // What a later attempt may fix, others report.
    if (asStoreError(error) !== undefined || error.message === this.#lastProblem) return
    this.#lastProblem = error.message
    this.#options.report(`Words could not be collected, so searches take longer: ${error.message}`)
  }
}

/** Groups segments of one range. Each batch begins where the words of its range end. */
function batchesOf(stored: readonly Stored[], marks: WordMarks): Batch[] {
  const batches: Batch[] = []
  for (const { segment, rows } of stored) {
    const last = batches.at(-1)
    const isSame = last !== undefined && rangeOf(last.to) === rangeOf(segment)
    if (isSame && last.rows + rows <= BATCH_ROWS) {
      last.to = segment
      last.rows += rows
    } else batches.push({ from: isSame ? last.to : marks.lastBefore(segment), to: segment, rows })
  }
  return batches
}

/** Weeks begin on Mondays, as in the store. */
function mondayAfter(timeMs: number): number {
  const days = Math.floor(timeMs / DAY_MS)
  return (Math.floor((days + 3) / 7) * 7 - 3 + 7) * DAY_MS
}
