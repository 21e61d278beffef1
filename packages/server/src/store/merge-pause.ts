import type { Store } from './connect.ts'
import { asStoreError } from './store-error.ts'

const CHECK_MS = 1_000
/** A burst has gaps, and stopping a merge throws away what it has done. */
const QUIET_MS = 5_000
/** So many rows a second keep a core busy, and so many that wait are a log that is behind. */
const BUSY_ROWS = 8_000
/** Readers open every part. With so many, merges go on until few are left. */
const PARTS = { most: 128, few: 24 }
const TABLES = ['steps', 'sessions', 'words']

/** What the engine has to merge, and how many deletions and changes of rows wait: a pause would hold those up too. */
type Backlog = { parts: number; mutations: number }

/**
 * Pauses the engine's merges while senders need the processor: a row costs as much to merge as to insert. What was not merged
 * meanwhile is merged afterwards, many parts at a time. A restarted engine merges again.
 */
export class MergePause {
  readonly #client: Store['client']
  readonly #report: (line: string) => void
  #rows = 0
  #lastBusyMs = -Infinity
  #isPaused = false
  /** True from too many parts until few are left. */
  #isBehind = false
  #lastProblem = ''

  constructor({ client }: Pick<Store, 'client'>, report: (line: string) => void) {
    this.#client = client
    this.#report = report
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Pauses and resumes until the cleanups run. */
  start(log: { state(): { pendingRows: number } }, cleanups: (() => unknown)[]): void {
    let checked = Promise.resolve()
    let isChecking = false
    const timer = setInterval(() => {
      if (isChecking) return
      isChecking = true
      checked = this.check(log.state().pendingRows).finally(() => (isChecking = false))
    }, CHECK_MS)
    cleanups.push(async () => {
      clearInterval(timer)
      await checked
    })
  }

  /** So many rows were stored. */
  note(rows: number): void {
    this.#rows += rows
  }

  /** Decides whether merges run for the next second. So many rows wait to be stored. */
  async check(waitingRows: number, nowMs = performance.now()): Promise<void> {
    const isBusy = waitingRows >= BUSY_ROWS || this.#rows >= BUSY_ROWS
    this.#rows = 0
    if (isBusy) this.#lastBusyMs = nowMs
    const isWanted = nowMs - this.#lastBusyMs < QUIET_MS
    if (!isWanted && !this.#isPaused) return
    try {
      await this.#set(isWanted && !this.#mustMerge(await this.#readBacklog()))
      this.#lastProblem = ''
    } catch (error) {
      this.#reportOnce(error as Error)
    }
  }

  #mustMerge({ parts, mutations }: Backlog): boolean {
    this.#isBehind = parts >= PARTS.most || (this.#isBehind && parts > PARTS.few)
    return this.#isBehind || mutations > 0
  }

  async #readBacklog(): Promise<Backlog> {
    const result = await this.#client.query({
      query: `SELECT
        (SELECT max(total) FROM (SELECT count() AS total FROM system.parts
          WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)} GROUP BY table)) AS parts,
        (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done) AS mutations`,
      query_params: { tables: TABLES },
      format: 'JSONEachRow',
    })
    const [backlog] = await result.json<Backlog>()
    return backlog ?? { parts: 0, mutations: 0 }
  }

  /** Repeated while it lasts, because an engine that was restarted in the meantime merges again. */
  async #set(isPaused: boolean): Promise<void> {
    if (!isPaused && !this.#isPaused) return
    this.#isPaused = isPaused
    for (const table of TABLES)
      await this.#client.command({ query: `SYSTEM ${isPaused ? 'STOP' : 'START'} MERGES ${table}` })
  }

  #reportOnce(error: Error): void {
    // Whatever is wrong with the store, others report it. The next check tries again.
    if (asStoreError(error) !== undefined || error.message === this.#lastProblem) return
    this.#lastProblem = error.message
    this.#report(`Merges could not be paused or resumed: ${error.message}`)
  }
}
