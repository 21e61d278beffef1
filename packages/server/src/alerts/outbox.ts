import { createHash } from 'node:crypto'
import type {
  DestinationKind,
  DeliveryResponse,
  deliveryReasons,
  deliveryStates,
} from '../api/schemas/alerts.ts'
import type { Store } from '../store/connect.ts'
import { parseObject } from '../store/stored-fields.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { titleOf, type Notification } from './notification.ts'
import type { Outcome } from './send-http.ts'

export type Attempt = {
  atMs: number
  /** `running` until it is over: a server that dies meanwhile leaves it behind. */
  result: Outcome['result'] | 'running'
  tookMs?: number
  status?: number
  detail?: string
}

/** One message to one destination, and every attempt to deliver it. */
export type Delivery = {
  project: string
  id: string
  destinationId: string
  destinationName: string
  kind: DestinationKind
  reason: (typeof deliveryReasons)[number]
  state: (typeof deliveryStates)[number]
  createdAtMs: number
  /** Null if nothing more is tried. */
  nextAttemptMs: number | null
  attempts: Attempt[]
  notification: Notification
}

/** What a destination was told last: since when each monitor fires that it believes to be firing. */
export type Told = { firing: Map<string, number>; atMs: number }

/** `covers` of a row: 0 says that the monitor was resolved. */
type Covered = [monitorId: string, firedAtMs: number]

/**
 * The messages on their way, in the store: a message is there before it is sent for the first time, and an attempt is there
 * before it is made. So a restart sends nothing twice, and what a crash leaves unclear is known to be unclear. What a
 * destination was told follows from the same rows, so that the two can't disagree.
 */
export class Outbox {
  readonly #store: Store
  readonly #versions: VersionClock
  #waiting = new Map<string, Delivery>()
  #told = new Map<string, Told>()

  private constructor(store: Store, versions: VersionClock) {
    this.#store = store
    this.#versions = versions
  }

  static async open(store: Store, versions: VersionClock): Promise<Outbox> {
    const outbox = new Outbox(store, versions)
    await outbox.reload()
    return outbox
  }

  /** Reads everything again. An attempt that runs was made by a server that is gone, unless this one `isRunning` it. */
  async reload(isRunning: (id: string) => boolean = () => false): Promise<void> {
    const [waiting, covered] = await Promise.all([
      this.#read<{ record: string }>(
        "SELECT record FROM deliveries FINAL WHERE state = 'waiting' ORDER BY created_at, version, id",
      ),
      this.#read<{ project: string; destination_id: string; atMs: number; covers: Covered[] }>(
        `SELECT project, destination_id, toUnixTimestamp64Milli(created_at) AS atMs, covers FROM deliveries FINAL
          WHERE notEmpty(covers) ORDER BY created_at, id`,
      ),
    ])
    const found = waiting.map(({ record }) => parseObject(record) as Delivery)
    this.#waiting = new Map(
      found.map((delivery) => {
        const own = this.#waiting.get(delivery.id)
        return [delivery.id, own !== undefined && isRunning(own.id) ? own : withoutRunning(delivery)]
      }),
    )
    this.#told = new Map()
    for (const { project, destination_id: id, atMs, covers } of covered) this.#tell(project, id, atMs, covers)
  }

  told(project: string, destinationId: string): Told | undefined {
    return this.#told.get(keyOf(project, destinationId))
  }

  waiting(): Delivery[] {
    return [...this.#waiting.values()]
  }

  waitingFor(project: string, destinationId: string): Delivery[] {
    return this.waiting().filter(
      (delivery) => delivery.project === project && delivery.destinationId === destinationId,
    )
  }

  /** Adds messages that belong together, all or none. */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    await this.#insert(deliveries)
    for (const delivery of deliveries) {
      if (delivery.state === 'waiting') this.#waiting.set(delivery.id, delivery)
      this.#tell(delivery.project, delivery.destinationId, delivery.createdAtMs, coversOf(delivery))
    }
  }

  /** Stores how far a message got. */
  async update(delivery: Delivery): Promise<void> {
    await this.#insert([delivery])
    if (delivery.state === 'waiting') this.#waiting.set(delivery.id, delivery)
    else this.#waiting.delete(delivery.id)
  }

  /** The log, newest first. */
  async list(
    project: string,
    {
      destination,
      limit,
      before,
    }: { destination?: string | undefined; limit: number; before?: number | undefined },
  ): Promise<Delivery[]> {
    const rows = await this.#read<{ record: string }>(
      `SELECT record FROM deliveries FINAL WHERE project = {project:String}
          AND ({destination:String} = '' OR destination_id = {destination:String})
          AND created_at < fromUnixTimestamp64Milli({before:Int64})
        ORDER BY created_at DESC, id LIMIT {limit:UInt32}`,
      { project, destination: destination ?? '', before: before ?? 8_000_000_000_000, limit },
    )
    return rows.map(({ record }) => parseObject(record) as Delivery)
  }

  #tell(project: string, destinationId: string, atMs: number, covers: readonly Covered[]): void {
    if (covers.length === 0) return
    const key = keyOf(project, destinationId)
    const told = this.#told.get(key) ?? { firing: new Map<string, number>(), atMs }
    for (const [monitorId, firedAtMs] of covers) {
      if (firedAtMs === 0) told.firing.delete(monitorId)
      else told.firing.set(monitorId, firedAtMs)
    }
    told.atMs = Math.max(told.atMs, atMs)
    this.#told.set(key, told)
  }

  async #insert(deliveries: readonly Delivery[]): Promise<void> {
    if (this.#store.engine === undefined) await this.#versions.observe('deliveries')
    const version = this.#versions.next()
    const values = deliveries.map((delivery) => ({
      project: delivery.project,
      destination_id: delivery.destinationId,
      created_at: new Date(delivery.createdAtMs).toISOString().replace('T', ' ').replace('Z', ''),
      id: delivery.id,
      state: delivery.state,
      covers: coversOf(delivery),
      record: JSON.stringify(delivery),
      version,
    }))
    await this.#store.client.insert({ table: 'deliveries', format: 'JSONEachRow', values })
  }

  async #read<Row>(query: string, params: Record<string, unknown> = {}): Promise<Row[]> {
    const result = await this.#store.client.query({ query, query_params: params, format: 'JSONEachRow' })
    return result.json<Row>()
  }
}

function coversOf({ reason, notification }: Delivery): Covered[] {
  if (reason === 'test') return []
  return notification.alerts.map(({ monitorId, status, firedAtMs }) => [
    monitorId,
    status === 'firing' ? firedAtMs : 0,
  ])
}

/** Its server died before it knew whether the message arrived. */
function withoutRunning(delivery: Delivery): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts.map((attempt) =>
      attempt.result === 'running'
        ? { ...attempt, result: 'unanswered', detail: 'The server ended during this attempt.' }
        : attempt,
    ),
  }
}

/** The same for the same news, so that two servers that both believe to lead make one message with one id. */
export function deliveryId(parts: readonly (string | number)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}

/** Whether the receiver may have got it twice: an attempt before the last one got no answer. */
export function isMaybeTwice({ attempts }: Delivery): boolean {
  return attempts.slice(0, -1).some(({ result }) => result === 'unanswered')
}

export function toDeliveryResponse(delivery: Delivery): DeliveryResponse {
  const { createdAtMs, nextAttemptMs, attempts, notification, project: _, ...rest } = delivery
  return {
    ...rest,
    isMaybeTwice: isMaybeTwice(delivery),
    title: titleOf(notification),
    alerts: notification.alerts.map(({ monitorId, name, status }) => ({ monitorId, name, status })),
    createdAt: iso(createdAtMs),
    nextAttemptAt: nextAttemptMs === null ? null : iso(nextAttemptMs),
    attempts: attempts.map(({ atMs, ...attempt }) => ({ at: iso(atMs), ...attempt })),
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function keyOf(project: string, id: string): string {
  return `${project}\0${id}`
}
