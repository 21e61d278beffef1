import { setTimeout as sleep } from 'node:timers/promises'
import { deriveEndState, DIAGNOSIS_VERSION, LOST_AFTER_MS, type ResolvedStep } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { asStoreError } from '../store/store-error.ts'
import { hourBucket, STATE } from '../store/sessions-table.ts'
import type { SessionFindings } from './session-findings.ts'

export type FindingsQueueOptions = {
  store: Store
  findings: SessionFindings
  /** The log of steps that are on their way into the store. */
  steps: { state(): { pendingRows: number } }
  report: (line: string) => void
}

/** A session may get more spans right after its end. */
const SETTLED_MS = 300
const IDLE_MS = 200
const RETRY_MS = 5_000
/** While senders need the processor, findings take at most a twentieth of the time. */
const BUSY_SHARE = 20
/** With more rows on their way into the store, senders need the processor. */
const BUSY_ROWS = 2_000
const MAX_WAITING = 50_000
/** Sessions that are read and stored together. Of a hundred, parsing them kept everybody else waiting for up to 90 ms. */
const BATCH_SESSIONS = 25
const BUSY_BATCH_SESSIONS = 10
/** What was missed is looked for soon after the start, which it would delay, and then this often. */
const SCAN_MS = 600_000
const FIRST_SCAN_MS = 500
const SCAN_WINDOW_MS = 7 * 86_400_000
const SCAN_SESSIONS = 2_000

type Waiting = { project: string; id: string; dueMs: number }

/**
 * Computes the findings of sessions after they have ended, in the background. Nothing here delays a sender: a refresh only
 * notes the session. Sessions that a crash or another node left without findings are found in the store.
 */
export class FindingsQueue {
  readonly #options: FindingsQueueOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #stopped = new AbortController()
  #nextScanMs = performance.now() + FIRST_SCAN_MS

  private constructor(options: FindingsQueueOptions) {
    this.#options = options
  }

  /** Starts a queue that `cleanups` stop. */
  static open(options: FindingsQueueOptions, cleanups: (() => unknown)[]): FindingsQueue {
    const queue = new FindingsQueue(options)
    const working = queue.#work()
    cleanups.push(async () => {
      queue.#stopped.abort()
      await working
    })
    return queue
  }

  /** Call it whenever a session changed. Returns whether it still runs. */
  note(project: string, steps: readonly ResolvedStep[]): boolean {
    const id = steps[0]?.sessionId
    if (id === undefined) return false
    const { isOpen } = deriveEndState(steps)
    if (this.#waiting.size >= MAX_WAITING) {
      this.#nextScanMs = 0
      return isOpen
    }
    const dueMs = performance.now() + (isOpen ? LOST_AFTER_MS + SETTLED_MS : SETTLED_MS)
    this.#waiting.set(`${project}\0${id}`, { project, id, dueMs })
    return isOpen
  }

  /** Whatever is wrong with the store, others report it. The session is computed later. */
  readonly #reportProblem = (error: Error): void => {
    if (asStoreError(error) === undefined)
      this.#options.report(`Findings could not be computed: ${error.message}`)
  }

  #isBusy(): boolean {
    return this.#options.steps.state().pendingRows > BUSY_ROWS
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const startedAtMs = performance.now()
      const done = await this.#next().catch((error: Error) => {
        this.#reportProblem(error)
        return false
      })
      const tookMs = performance.now() - startedAtMs
      const restMs = this.#isBusy() ? tookMs * (BUSY_SHARE - 1) : done ? tookMs / 4 : IDLE_MS
      await sleep(Math.max(1, restMs), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Computes the findings of sessions of one project that are due. False if none is. */
  async #next(): Promise<boolean> {
    const nowMs = performance.now()
    if (nowMs >= this.#nextScanMs && !this.#isBusy()) await this.#scan(nowMs)
    const due = this.#takeDue(nowMs)
    const [first] = due
    if (first === undefined) return false
    const ids = due.map(({ id }) => id)
    await this.#compute(first.project, ids).catch(async (error: Error) => {
      if (ids.length === 1 || asStoreError(error) !== undefined) throw error
      // Whatever is wrong with one of them, the others are as they should be.
      for (const id of ids) await this.#compute(first.project, [id]).catch(this.#reportProblem)
    })
    return true
  }

  async #compute(project: string, ids: readonly string[]): Promise<void> {
    try {
      await this.#options.findings.computeAll(project, ids, this.#stopped.signal)
    } catch (error) {
      if (asStoreError(error as Error) !== undefined)
        for (const id of ids) this.#note({ project, id, dueMs: performance.now() + RETRY_MS })
      throw error
    }
  }

  #takeDue(nowMs: number): Waiting[] {
    const due: Waiting[] = []
    const most = this.#isBusy() ? BUSY_BATCH_SESSIONS : BATCH_SESSIONS
    for (const [key, one] of this.#waiting) {
      if (one.dueMs > nowMs || (due[0] !== undefined && due[0].project !== one.project)) continue
      this.#waiting.delete(key)
      due.push(one)
      if (due.length === most) break
    }
    return due
  }

  /** Unless it waits already. */
  #note(one: Waiting): void {
    const key = `${one.project}\0${one.id}`
    if (!this.#waiting.has(key)) this.#waiting.set(key, one)
  }

  /** Notes sessions that ended without findings, or changed since. Another node may note the same; that does no harm. */
  async #scan(nowMs: number): Promise<void> {
    this.#nextScanMs = nowMs + SCAN_MS
    const now = Date.now()
    const result = await this.#options.store.client.query({
      query: `SELECT project, session_id AS id FROM
          (SELECT project, session_id, version FROM sessions FINAL WHERE bucket <= {since:UInt32} AND ${STATE} != 'running') AS sessions
        GLOBAL LEFT JOIN
          (SELECT project, session_id, version AS found FROM session_findings FINAL WHERE diagnosis_version >= ${DIAGNOSIS_VERSION}) AS findings
        USING (project, session_id)
        WHERE found < version ORDER BY version DESC LIMIT ${SCAN_SESSIONS}`,
      query_params: {
        nowMs: now,
        since: hourBucket(now - SCAN_WINDOW_MS),
      },
      format: 'JSONEachRow',
    })
    const missed = await result.json<{ project: string; id: string }>()
    for (const { project, id } of missed) this.#note({ project, id, dueMs: nowMs })
    // More may be left.
    if (missed.length === SCAN_SESSIONS) this.#nextScanMs = nowMs + SETTLED_MS
  }
}
