import { randomUUID } from 'node:crypto'
import type { Store } from '../store/connect.ts'
import { isoTime } from '../store/iso-time.ts'

/** How often a server says that it is there. */
const BEAT_MS = 3_000
/** A server that was not seen for this long is gone. */
export const GONE_AFTER_MS = 15_000

/** A server that uses this store, itself included. */
export type ServerNode = { id: string; url: string; startedAt: string; seenAt: string; isThisOne: boolean }

type NodeOptions = {
  store: Pick<Store, 'client' | 'engine'>
  url: () => string
  report: (line: string) => void
  beatMs?: number
}

/**
 * Knows the servers that share a store, so that work for all of them (retention, monitors) is done by one: the leader, which
 * is the server that has run longest. While the leader changes, for a few seconds there may be none, or in the worst case two:
 * whatever the leader does must be harmless when it is done twice.
 */
export class ServerNodes {
  readonly id = randomUUID()
  readonly #options: NodeOptions
  #living: ServerNode[] = []
  #readAtMs = Number.NEGATIVE_INFINITY
  #startedAt = ''
  #isFailing = false

  private constructor(options: NodeOptions) {
    this.#options = options
  }

  /** An embedded store is locked by its only server, which needs no table to know that. */
  static async open(options: NodeOptions, cleanups: (() => unknown)[]): Promise<ServerNodes> {
    const nodes = new ServerNodes(options)
    if (!nodes.isShared) return nodes
    await nodes.#beat()
    const timer = setInterval(() => void nodes.#beat(), options.beatMs ?? BEAT_MS)
    cleanups.push(async () => {
      clearInterval(timer)
      await nodes.#leave()
    })
    return nodes
  }

  /** Whether other servers may use the store. */
  get isShared(): boolean {
    return this.#options.store.engine === undefined
  }

  /** Whether this server does the work that only one should do. False if the store has not responded lately. */
  isLeader(): boolean {
    if (!this.isShared) return true
    if (performance.now() - this.#readAtMs > GONE_AFTER_MS) return false
    return this.#living[0]?.isThisOne === true
  }

  /** Whether another server was seen lately. */
  hasOthers(): boolean {
    return this.#living.some(({ isThisOne }) => !isThisOne)
  }

  /** The leader first. */
  list(): readonly ServerNode[] {
    return this.#living
  }

  async #beat(): Promise<void> {
    try {
      await this.#write(false)
      const readAtMs = performance.now()
      this.#living = await this.#read()
      this.#readAtMs = readAtMs
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing)
        this.#options.report(
          `This server can't tell others that share its store that it runs: ${(error as Error).message}`,
        )
      this.#isFailing = true
    }
  }

  /** So that another server takes over at once. If the store does not respond, it does so when this one is not seen any more. */
  async #leave(): Promise<void> {
    await this.#write(true).catch(() => undefined)
  }

  async #write(isGone: boolean): Promise<void> {
    const startedAt = this.#startedAt === '' ? 'now64(3)' : '{startedAt:String}'
    await this.#options.store.client.command({
      query: `INSERT INTO nodes (id, url, started_at, seen_at, is_gone, version)
        SELECT {id:String}, {url:String}, ${startedAt}, now64(3), {isGone:UInt8}, toUnixTimestamp64Micro(now64(6))`,
      query_params: {
        id: this.id,
        url: this.#options.url(),
        startedAt: this.#startedAt,
        isGone: isGone ? 1 : 0,
      },
    })
  }

  async #read(): Promise<ServerNode[]> {
    const result = await this.#options.store.client.query({
      query: `SELECT id, url, ${isoTime('started_at')} AS startedAt, ${isoTime('seen_at')} AS seenAt FROM nodes FINAL
        WHERE is_gone = 0 AND seen_at > now64(3) - INTERVAL ${GONE_AFTER_MS} MILLISECOND ORDER BY started_at, id`,
      format: 'JSONEachRow',
    })
    const rows = await result.json<Omit<ServerNode, 'isThisOne'>>()
    const own = rows.find(({ id }) => id === this.id)
    if (own !== undefined && this.#startedAt === '') this.#startedAt = own.startedAt.replace(/Z$/, '')
    return rows.map((row) => ({ ...row, isThisOne: row.id === this.id }))
  }
}
