import type { AuditLog } from '../access/audit.ts'
import { asStoreError } from '../store/store-error.ts'
import type { AddressGuard } from './address-guard.ts'
import { monitorsUrl } from './compose.ts'
import type { DeliveryClaims } from './delivery-claims.ts'
import type { Destination, DestinationStore } from './destination-store.ts'
import { render } from './formats.ts'
import type { Notification } from './notification.ts'
import { deliveryId, type Attempt, type Delivery, type Outbox } from './outbox.ts'
import { sendHttp, type Outcome } from './send-http.ts'
import { sendMail } from './send-mail.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** The pauses between attempts: together a day. */
const pausesMs = [
  5_000,
  30_000,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  10 * HOUR,
]
const LONGEST_RETRY_AFTER_MS = HOUR
/** Destinations that are sent to at the same time. */
const MOST_LANES = 8
/** The receiver no longer wants messages. */
const GONE = 410

export type CourierOptions = {
  destinations: DestinationStore
  outbox: Outbox
  claims: DeliveryClaims
  guard: AddressGuard
  audit: AuditLog
  report: (line: string) => void
}

/** Delivers the messages of the outbox: those of one destination one after the other, those of several at the same time. */
export class Courier {
  readonly #options: CourierOptions
  readonly #lanes = new Map<string, Promise<void>>()
  readonly #running = new Set<string>()
  /** How attempts ended that the store did not take yet. */
  readonly #unsaved = new Map<string, Delivery>()
  #isClosed = false

  constructor(options: CourierOptions) {
    this.#options = options
  }

  /** Begins every attempt that is due, and resolves when these are over. */
  async send(nowMs: number): Promise<void> {
    const { outbox } = this.#options
    const lanes = Map.groupBy(outbox.waiting(), laneOf)
    const begun: Promise<void>[] = []
    for (const [key, deliveries] of lanes) {
      if (this.#lanes.has(key) || this.#lanes.size >= MOST_LANES || this.#isClosed) continue
      const lane = this.#deliverAll(deliveries, nowMs).finally(() => this.#lanes.delete(key))
      this.#lanes.set(key, lane)
      begun.push(lane)
    }
    await Promise.all(begun)
  }

  /** Waits for the attempts that run. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#lanes.values())
    await this.saveOutcomes().catch(() => {})
  }

  /** Reads the outbox again, without forgetting what this server does. */
  async reload(): Promise<void> {
    await this.saveOutcomes()
    const { outbox, claims } = this.#options
    await outbox.reload({
      isSending: (id) => this.#running.has(id),
      isAlive: (node) => claims.isOther(node),
    })
  }

  /** Stores what could not be stored before. Nothing else happens until that works: a message might be sent twice. */
  async saveOutcomes(): Promise<void> {
    for (const [id, delivery] of this.#unsaved) {
      await this.#options.outbox.update(delivery)
      this.#unsaved.delete(id)
    }
  }

  async test(destination: Destination, nowMs: number, origin: string): Promise<Delivery> {
    const { project, id: destinationId, definition } = destination
    const notification = testNotification(project, nowMs, origin)
    const id = deliveryId([project, destinationId, 'test', nowMs, Math.random()])
    const outcome = await this.#attempt(id, notification, destination)
    if (definition.kind === 'pagerduty' && outcome.result === 'delivered')
      // Nobody has to close the incident.
      await this.#attempt(id, resolved(notification), destination)
    const delivery: Delivery = {
      project,
      id,
      destinationId,
      destinationName: definition.name,
      kind: definition.kind,
      reason: 'test',
      state: outcome.result === 'delivered' ? 'delivered' : 'failed',
      createdAtMs: nowMs,
      nextAttemptMs: null,
      attempts: [toAttempt(outcome, nowMs)],
      notification,
    }
    await this.#options.outbox.add([delivery])
    return delivery
  }

  /** In order, until one has to wait. */
  async #deliverAll(deliveries: readonly Delivery[], nowMs: number): Promise<void> {
    const { report } = this.#options
    for (const delivery of deliveries) {
      if ((delivery.nextAttemptMs ?? 0) > nowMs || isRunning(delivery) || this.#isClosed) return
      try {
        const { state } = await this.#deliver(delivery, nowMs)
        if (state === 'waiting') return
      } catch (error) {
        if (asStoreError(error as Error) === undefined)
          report(`The message ${delivery.id} could not be delivered: ${(error as Error).stack}`)
        return
      }
    }
  }

  async #deliver(delivery: Delivery, nowMs: number): Promise<Delivery> {
    const { destinations, outbox, claims } = this.#options
    const destination = destinations.get(delivery.project, delivery.destinationId)
    if (destination === undefined || !destination.definition.isEnabled) {
      const canceled: Delivery = { ...delivery, state: 'canceled', nextAttemptMs: null }
      await outbox.update(canceled)
      return canceled
    }
    // Whatever it does is there when the outbox is read again.
    if (!(await claims.take(delivery.id, delivery.attempts.length))) return delivery
    // Before it is made: if this server dies meanwhile, the next one knows that it may have arrived.
    const running: Delivery = {
      ...delivery,
      attempts: [...delivery.attempts, { atMs: nowMs, result: 'running', node: claims.nodeId }],
    }
    this.#running.add(delivery.id)
    try {
      await outbox.update(running)
      const outcome = await this.#attempt(delivery.id, delivery.notification, destination)
      const after = afterAttempt(delivery, outcome, { atMs: nowMs, node: claims.nodeId })
      this.#unsaved.set(delivery.id, after)
      if (outcome.status === GONE) await this.#disable(destination, nowMs)
      await this.saveOutcomes()
      return after
    } finally {
      this.#running.delete(delivery.id)
    }
  }

  async #attempt(
    id: string,
    notification: Notification,
    { definition }: Destination,
  ): Promise<Outcome & { tookMs: number }> {
    const startedAtMs = performance.now()
    const rendered = render(id, notification, definition, Date.now())
    const sent =
      'http' in rendered
        ? sendHttp(rendered.http, this.#options.guard)
        : sendMail(rendered.mail, rendered.server, this.#options.guard)
    const outcome = await sent.catch((error: Error): Outcome => {
      this.#options.report(`The message ${id} could not be sent: ${error.stack}`)
      return { result: 'unreachable', detail: error.message }
    })
    return { ...outcome, tookMs: Math.round(performance.now() - startedAtMs) }
  }

  /** A receiver that answers 410 never wants to hear of us again. */
  async #disable(destination: Destination, nowMs: number): Promise<void> {
    const { destinations, audit } = this.#options
    const day = new Date(nowMs).toISOString().slice(0, 10)
    const problem = `Turned off on ${day}: the receiver answered 410, so it no longer wants messages.`
    await destinations.save({
      ...destination,
      definition: { ...destination.definition, isEnabled: false },
      problem,
    })
    await audit.record({
      action: 'destination.changed',
      project: destination.project,
      subject: destination.id,
      detail: problem,
      caller: { kind: 'server', id: '', name: '', address: '' },
    })
  }
}

/** Another server makes an attempt. */
function isRunning({ attempts }: Delivery): boolean {
  return attempts.at(-1)?.result === 'running'
}

function laneOf({ project, destinationId }: Delivery): string {
  return `${project}\0${destinationId}`
}

function afterAttempt(
  delivery: Delivery,
  outcome: Outcome & { tookMs: number },
  by: { atMs: number; node: string },
): Delivery {
  const attempts = [...delivery.attempts, { ...toAttempt(outcome, by.atMs), node: by.node }]
  if (outcome.result === 'delivered')
    return { ...delivery, attempts, state: 'delivered', nextAttemptMs: null }
  const pauseMs = pausesMs[attempts.length - 1]
  // PagerDuty says that an event it calls invalid never becomes valid.
  const isHopeless = outcome.status === GONE || (delivery.kind === 'pagerduty' && outcome.status === 400)
  if (pauseMs === undefined || isHopeless)
    return { ...delivery, attempts, state: 'failed', nextAttemptMs: null }
  const askedMs = Math.min(outcome.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)
  return { ...delivery, attempts, nextAttemptMs: by.atMs + Math.max(pauseMs, askedMs) }
}

function toAttempt({ retryAfterMs: _, ...outcome }: Outcome & { tookMs: number }, atMs: number): Attempt {
  return { atMs, ...outcome }
}

function resolved(notification: Notification): Notification {
  return {
    ...notification,
    alerts: notification.alerts.map((alert) => ({
      ...alert,
      status: 'resolved',
      resolvedAtMs: notification.atMs,
    })),
  }
}

function testNotification(project: string, nowMs: number, origin: string): Notification {
  const url = monitorsUrl(origin, project)
  return {
    project,
    atMs: nowMs,
    isTest: true,
    alerts: [
      {
        monitorId: 'playhead-test',
        name: 'Test message',
        status: 'firing',
        sentence: 'somebody chose "Send test" under Settings → Alerts; nothing is wrong',
        value: null,
        firedAtMs: nowMs,
        resolvedAtMs: null,
        sessions: [],
        url,
      },
    ],
  }
}
