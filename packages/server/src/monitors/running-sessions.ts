import { setTimeout as sleep } from 'node:timers/promises'
import { LOST_AFTER_MS, type Diagnosis } from '@playhead/model'
import type { SessionReader } from '../sessions/session-reader.ts'
import { toDiagnosed, type DiagnosedSession } from '../store/findings-table.ts'
import { asStoreError } from '../store/store-error.ts'
import type { MonitorStore } from './monitor-store.ts'
import type { RuleResults } from './rule-results.ts'

const PAUSE_MS = 5_000
/** Sessions that are looked at between two pauses. */
const MOST_CHECKED = 100
const MOST_NOTED = 5_000
/** With more rows on their way into the store, senders need the processor: sessions are checked when they have ended. */
const BUSY_ROWS = 2_000

type Noted = {
  project: string
  id: string
  heardAtMs: number
  isChanged: boolean
  isLate: boolean
  startedAtMs: number
}

/** Findings are computed when a session has ended. */
const noDiagnosis: Diagnosis = { findings: [], suspects: [], issue: undefined, nodes: [] }

export type RunningSessionsOptions = {
  reader: SessionReader
  monitors: MonitorStore
  results: RuleResults
  report: (line: string) => void
}

/**
 * Checks rules on sessions that still run, so that somebody hears of a forbidden call or of a session that hangs before it is
 * over. Nothing here delays a sender: a refresh only notes the session.
 */
export class RunningSessions {
  readonly #options: RunningSessionsOptions
  readonly #noted = new Map<string, Noted>()

  constructor(options: RunningSessionsOptions) {
    this.#options = options
  }

  /** Starts to check, until `cleanups` stop it. */
  start(steps: { state(): { pendingRows: number } }, cleanups: (() => unknown)[]): void {
    const stopped = new AbortController()
    const working = this.#work(stopped.signal, () => steps.state().pendingRows > BUSY_ROWS)
    cleanups.push(async () => {
      stopped.abort()
      await working
    })
  }

  /** Call it whenever a session changed. */
  note(project: string, id: string, { isOpen, startedAtMs }: { isOpen: boolean; startedAtMs: number }): void {
    const key = `${project}\0${id}`
    if (!isOpen || !this.#options.monitors.hasRules(project)) {
      this.#noted.delete(key)
      return
    }
    if (!this.#noted.has(key) && this.#noted.size >= MOST_NOTED) return
    this.#noted.set(key, { project, id, heardAtMs: Date.now(), isChanged: true, isLate: false, startedAtMs })
  }

  /** Checks the sessions that changed, and those that take longer than a rule allows. */
  async check(nowMs: number): Promise<void> {
    const due = this.#takeDue(nowMs)
    for (const [project, noted] of Map.groupBy(due, (one) => one.project)) {
      const ids = noted.map(({ id }) => id)
      for await (const group of this.#options.reader.readStamped(project, ids)) {
        const running: DiagnosedSession[] = group
          .filter(({ session }) => session.session.endState === 'running')
          .map(({ session, stamp }) => toDiagnosed(session, stamp, noDiagnosis))
        await this.#options.results.check(project, running, nowMs)
      }
    }
  }

  #takeDue(nowMs: number): Noted[] {
    const due: Noted[] = []
    const limits = new Map<string, number>()
    for (const [key, noted] of this.#noted) {
      // Lost: it is judged as a session that has ended.
      if (nowMs - noted.heardAtMs > LOST_AFTER_MS) this.#noted.delete(key)
      const limitMs = limits.get(noted.project) ?? this.#options.monitors.shortestDuration(noted.project)
      limits.set(noted.project, limitMs)
      const isLate = nowMs - noted.startedAtMs > limitMs
      if (!noted.isChanged && (!isLate || noted.isLate)) continue
      Object.assign(noted, { isChanged: false, isLate })
      due.push(noted)
      if (due.length === MOST_CHECKED) break
    }
    return due
  }

  async #work(signal: AbortSignal, isBusy: () => boolean): Promise<void> {
    while (!signal.aborted) {
      await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted || isBusy()) continue
      await this.check(Date.now()).catch((error: Error) => {
        if (asStoreError(error) === undefined)
          this.#options.report(`Rules could not be checked on sessions that run: ${error.message}`)
      })
    }
  }
}
