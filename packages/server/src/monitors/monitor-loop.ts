import { nextMonitorState } from '@playhead/model'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import { asStoreError } from '../store/store-error.ts'
import { observeMonitors, type ObserveOptions, type Seen } from './observe-monitors.ts'
import type { MonitorStatus, MonitorStore, WatchedMonitor } from './monitor-store.ts'

const TICK_MS = 15_000

export type MonitorLoopOptions = ObserveOptions & {
  monitors: MonitorStore
  nodes: ServerNodes
  report: (line: string) => void
}

/**
 * Evaluates all monitors every few seconds, apart from whatever senders do. Of several servers with one store, the one that
 * has run longest does it.
 */
export class MonitorLoop {
  readonly #options: MonitorLoopOptions
  #running: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(options: MonitorLoopOptions) {
    this.#options = options
  }

  /** Starts the loop, which `cleanups` stop. */
  start(cleanups: (() => unknown)[]): void {
    const { report } = this.#options
    const tick = () =>
      void this.evaluate(Date.now()).catch((error: Error) =>
        report(`Monitors could not be evaluated: ${error.message}`),
      )
    this.#timer = setInterval(tick, TICK_MS).unref()
    cleanups.push(() => this.stop())
  }

  /** Evaluates nothing any more, unless somebody asks. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  /** Evaluates every monitor as of a time. Evaluations never overlap. */
  evaluate(nowMs: number): Promise<void> {
    const evaluated = this.#running.then(() => this.#evaluateAll(nowMs))
    this.#running = evaluated.catch(() => {})
    return evaluated
  }

  async #evaluateAll(nowMs: number): Promise<void> {
    const { monitors, nodes, report } = this.#options
    // Not `isLeader`: the last leader goes on when the store fails, to say so.
    if (nodes.isShared && nodes.list()[0]?.isThisOne !== true) return
    // What is in memory is evaluated whether or not this fails.
    if (nodes.isShared) await monitors.reload().catch(() => undefined)
    for (const [project, watched] of Map.groupBy(monitors.all(), (one) => one.project)) {
      const active = watched.filter(({ monitor }) => !monitor.isPaused)
      const seen = await observeMonitors(this.#options, project, active, nowMs)
      for (const one of watched) this.#advance(one, seen.get(one.monitor.id), nowMs)
      await monitors.saveStatuses().catch((error: Error) => {
        if (asStoreError(error) === undefined)
          report(`The states of monitors could not be stored: ${error.message}`)
      })
    }
  }

  #advance(watched: WatchedMonitor, seen: Seen | Error | undefined, nowMs: number): void {
    const { monitor, status } = watched
    const observation = seen === undefined ? 'paused' : seen instanceof Error ? 'error' : seen.observation
    const { next } = nextMonitorState(status, observation, { nowMs, forMs: monitor.forMs })
    const { problem: _, ...before } = status
    const updated: MonitorStatus = {
      ...before,
      ...next,
      ...(seen instanceof Error && { problem: seen.message.split('\n', 1)[0]!.slice(0, 300) }),
      ...(seen !== undefined &&
        !(seen instanceof Error) && {
          value: seen.value,
          evaluatedAtMs: nowMs,
          // While it fires, whatever made it fire stays in view.
          examples: seen.observation === 'bad' || next.firedAtMs === null ? seen.examples : status.examples,
        }),
    }
    if (isSame(status, updated)) {
      watched.status = updated
      return
    }
    this.#options.monitors.setStatus(watched, updated)
  }
}

/** The time of the evaluation alone is not worth a row every few seconds. */
function isSame(before: MonitorStatus, after: MonitorStatus): boolean {
  const { evaluatedAtMs: _, ...left } = before
  const { evaluatedAtMs: __, ...right } = after
  return JSON.stringify(left) === JSON.stringify(right)
}
