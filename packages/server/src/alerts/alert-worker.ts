import type { AuditLog } from '../access/audit.ts'
import type { MonitorStore } from '../monitors/monitor-store.ts'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import { asStoreError } from '../store/store-error.ts'
import type { AddressGuard } from './address-guard.ts'
import { composeAlerts, type ComposeOptions } from './compose.ts'
import type { Destination, DestinationStore } from './destination-store.ts'
import { findNews, GROUP_MS, REPEAT_MS, type News } from './find-news.ts'
import { Courier } from './courier.ts'
import type { DeliveryClaims } from './delivery-claims.ts'
import type { Alert } from './notification.ts'
import { deliveryId, type Delivery, type Outbox } from './outbox.ts'

const TICK_MS = 1_000
/** How often a server that shares its store looks for destinations that another one changed. */
const RELOAD_MS = 5_000

export type AlertWorkerOptions = ComposeOptions & {
  monitors: MonitorStore
  destinations: DestinationStore
  outbox: Outbox
  claims: DeliveryClaims
  guard: AddressGuard
  nodes: ServerNodes
  audit: AuditLog
  report: (line: string) => void
}

/**
 * Tells destinations what fires and what was resolved. Works in the background: neither a sender nor the evaluation of
 * monitors ever waits for a receiver. Of several servers with one store, only the leader works.
 */
export class AlertWorker {
  readonly #options: AlertWorkerOptions
  readonly #courier: Courier
  /** When a change was seen first that a destination was not told about. */
  readonly #pendingSinceMs = new Map<string, number>()
  #planning: Promise<unknown> = Promise.resolve()
  #reloadedAtMs = Number.NEGATIVE_INFINITY
  #isLeading = false
  #timer: NodeJS.Timeout | undefined
  #isFailing = false

  constructor(options: AlertWorkerOptions) {
    this.#options = options
    this.#courier = new Courier(options)
  }

  /** Starts the loop, which `cleanups` stop. */
  start(cleanups: (() => unknown)[]): void {
    const tick = () => void this.tick(Date.now())
    this.#timer = setInterval(tick, TICK_MS).unref()
    cleanups.push(async () => {
      await this.stop()
      await this.#courier.close()
    })
  }

  /** Does nothing any more, unless somebody calls `tick`. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#planning
  }

  /** Plans and sends what is due at a time. Resolves when all attempts that it began are over. */
  async tick(nowMs: number): Promise<void> {
    const planned = this.#planning.then(() => this.#plan(nowMs))
    this.#planning = planned
    if (await planned) await this.#courier.send(nowMs)
  }

  /** Sends a message to a destination now, once, and logs it. */
  test(destination: Destination, nowMs: number): Promise<Delivery> {
    return this.#courier.test(destination, nowMs, this.#options.origin())
  }

  /** Whether there may be something to send. A store that fails is tried again at the next tick. */
  async #plan(nowMs: number): Promise<boolean> {
    const { nodes, report } = this.#options
    if (!nodes.isLeader()) {
      this.#isLeading = false
      return false
    }
    try {
      if (nodes.isShared) await this.#followOthers(nowMs)
      await this.#courier.saveOutcomes()
      for (const destination of this.#options.destinations.all()) await this.#planFor(destination, nowMs)
      this.#isFailing = false
    } catch (error) {
      // Whatever is wrong with the store, others report it.
      if (asStoreError(error as Error) === undefined && !this.#isFailing)
        report(`Alerts could not be planned: ${(error as Error).stack}`)
      this.#isFailing = true
      return false
    }
    return true
  }

  /** What an earlier leader left, and what other servers saved. */
  async #followOthers(nowMs: number): Promise<void> {
    const { destinations, monitors } = this.#options
    if (this.#isLeading && nowMs - this.#reloadedAtMs < RELOAD_MS) return
    if (!this.#isLeading) await monitors.reload()
    await Promise.all([destinations.reload(), this.#courier.reload()])
    this.#reloadedAtMs = nowMs
    this.#isLeading = true
  }

  async #planFor(destination: Destination, nowMs: number): Promise<void> {
    const { monitors, outbox } = this.#options
    const { project, id, definition } = destination
    const key = `${project}\0${id}`
    const told = outbox.told(project, id)
    const news = findNews(destination, monitors.list(project), told, nowMs)
    if (news.changed.length === 0) this.#pendingSinceMs.delete(key)
    // What has not arrived yet comes first; whatever changes meanwhile is one message then.
    if (!definition.isEnabled || outbox.waitingFor(project, id).length > 0) return
    if (news.changed.length > 0) {
      const sinceMs = this.#pendingSinceMs.get(key) ?? nowMs
      this.#pendingSinceMs.set(key, sinceMs)
      if (nowMs - sinceMs < GROUP_MS) return
      this.#pendingSinceMs.delete(key)
      return this.#tell(destination, news, 'change', nowMs)
    }
    if (news.firing.length > 0 && told !== undefined && nowMs - told.atMs >= REPEAT_MS)
      await this.#tell(destination, news, 'repeat', nowMs)
  }

  async #tell(
    { project, id, definition }: Destination,
    { changed, firing }: News,
    reason: 'change' | 'repeat',
    nowMs: number,
  ): Promise<void> {
    const { outbox } = this.#options
    const still = firing.filter((item) => !changed.includes(item))
    // PagerDuty has an incident for each monitor, and is told about those alone that changed.
    const isByMonitor = definition.kind === 'pagerduty'
    const said = isByMonitor && reason === 'change' ? changed : [...changed, ...still]
    const alerts = await composeAlerts(this.#options, project, said, definition.includesText)
    const lastAtMs = outbox.told(project, id)?.atMs ?? 0
    const messages = isByMonitor ? alerts.map((alert) => [alert]) : [alerts]
    await outbox.add(
      messages.map((part): Delivery => ({
        project,
        id: deliveryId([project, id, reason, lastAtMs, ...part.flatMap(newsKey)]),
        destinationId: id,
        destinationName: definition.name,
        kind: definition.kind,
        reason,
        state: 'waiting',
        createdAtMs: nowMs,
        nextAttemptMs: nowMs,
        attempts: [],
        notification: { project, atMs: nowMs, ...(reason === 'repeat' && { isRepeat: true }), alerts: part },
      })),
    )
  }
}

function newsKey({ monitorId, status, firedAtMs }: Alert): (string | number)[] {
  return [monitorId, status, firedAtMs]
}
