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
  /** The server that makes it. */
  node?: string
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

/**
 * The rows of a message, of which one counts. Two servers that planned it at the same time made two rows: the one that got
 * further is right.
 */
const FURTHEST = "(state != 'waiting', JSONLength(record, 'attempts'), version)"

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

  /**
   * Reads everything again, except messages that this server `isSending`. An attempt that runs was made by a server that is
   * gone, unless `isAlive` knows it.
   */
  async reload({ isSending, isAlive }: ReloadOptions = none): Promise<void> {
    const [waiting, covered] = await Promise.all([
      this.#read<{ furthest: string }>(
        `SELECT argMax(record, ${FURTHEST}) AS furthest FROM deliveries FINAL
          WHERE id IN (SELECT id FROM deliveries FINAL WHERE state = 'waiting')
          GROUP BY project, id HAVING max(state != 'waiting') = 0 ORDER BY min(created_at), max(version), id`,
      ),
      this.#read<{ project: string; destination_id: string; atMs: number; covers: Covered[] }>(
        `SELECT project, destination_id, toUnixTimestamp64Milli(created_at) AS atMs, covers FROM deliveries FINAL
          WHERE notEmpty(covers) ORDER BY created_at, id`,
      ),
    ])
    const found = waiting.map(({ furthest }) => parseObject(furthest) as Delivery)
    this.#waiting = new Map(
      found.map((delivery) => {
        const own = this.#waiting.get(delivery.id)
        return [delivery.id, own !== undefined && isSending(own.id) ? own : withoutDead(delivery, isAlive)]
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

  /** Adds messages that belong together, all or none. Another server may have added them already. */
  async add(deliveries: readonly Delivery[]): Promise<void> {
    if (this.#store.engine === undefined && (await this.#isKnown(deliveries))) return
    await this.#insert(deliveries)
    for (const delivery of deliveries) {
      if (delivery.state === 'waiting') this.#waiting.set(delivery.id, delivery)
      this.#tell(delivery.project, delivery.destinationId, delivery.createdAtMs, coversOf(delivery))
    }
  }

  /** Stores how far a message got, with what another server did meanwhile. */
  async update(given: Delivery): Promise<void> {
    const delivery = this.#store.engine === undefined ? await this.#joinStored(given) : given
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
    const rows = await this.#read<{ furthest: string }>(
      `SELECT argMax(record, ${FURTHEST}) AS furthest FROM deliveries FINAL WHERE project = {project:String}
          AND ({destination:String} = '' OR destination_id = {destination:String})
          AND created_at < fromUnixTimestamp64Milli({before:Int64})
        GROUP BY id ORDER BY min(created_at) DESC, id LIMIT {limit:UInt32}`,
      { project, destination: destination ?? '', before: before ?? 8_000_000_000_000, limit },
    )
    return rows.map(({ furthest }) => parseObject(furthest) as Delivery)
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

  async #isKnown(deliveries: readonly Delivery[]): Promise<boolean> {
    const rows = await this.#readRecords(deliveries.map(({ id }) => id))
    return rows.length > 0
  }

  /** With the attempts of other servers. */
  async #joinStored(delivery: Delivery): Promise<Delivery> {
    const known = new Set(delivery.attempts.map(attemptKey))
    const stored = await this.#readRecords([delivery.id])
    const others = stored
      .flatMap(({ attempts }) => attempts)
      .filter((attempt) => attempt.result !== 'running' && !known.has(attemptKey(attempt)))
    if (others.length === 0) return delivery
    const attempts = [...delivery.attempts, ...others].toSorted((left, right) => left.atMs - right.atMs)
    const ended = stored.find(({ state }) => state === 'delivered')
    return {
      ...delivery,
      attempts,
      ...(ended !== undefined && { state: ended.state, nextAttemptMs: ended.nextAttemptMs }),
    }
  }

  async #readRecords(ids: readonly string[]): Promise<Delivery[]> {
    const rows = await this.#read<{ record: string }>(
      'SELECT record FROM deliveries FINAL WHERE id IN {ids:Array(String)}',
      { ids },
    )
    return rows.map(({ record }) => parseObject(record) as Delivery)
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

type ReloadOptions = { isSending: (id: string) => boolean; isAlive: (node: string | undefined) => boolean }
const none: ReloadOptions = { isSending: () => false, isAlive: () => false }

/** Its server died before it knew whether the message arrived. */
function withoutDead(delivery: Delivery, isAlive: ReloadOptions['isAlive']): Delivery {
  return {
    ...delivery,
    attempts: delivery.attempts.map((attempt) =>
      attempt.result === 'running' && !isAlive(attempt.node)
        ? { ...attempt, result: 'unanswered', detail: 'The server ended during this attempt.' }
        : attempt,
    ),
  }
}

function attemptKey({ node, atMs }: Attempt): string {
  return `${node}\0${atMs}`
}

/** The same for the same news, so that two servers that both believe to lead make one message. */
export function deliveryId(parts: readonly (string | number)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}

/** Whether the receiver may have got it twice: an attempt before the last one got no answer, or two servers delivered it. */
export function isMaybeTwice({ attempts }: Delivery): boolean {
  return attempts.slice(0, -1).some(({ result }) => result === 'unanswered' || result === 'delivered')
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
    attempts: attempts.map(({ atMs, node: _node, ...attempt }) => ({ at: iso(atMs), ...attempt })),
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function keyOf(project: string, id: string): string {
  return `${project}\0${id}`
}
