import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import type { Store } from '../store/connect.ts'

/** How often a server looks whether the other one stepped back. */
const LOOKS = 5
const LOOK_AGAIN_MS = 50

type Nodes = Pick<ServerNodes, 'id' | 'isShared' | 'list'>

/**
 * Decides which server makes an attempt, for the moments in which two believe to lead. Each writes that it wants to, then
 * looks who else does, and goes on only if nobody else is there: of two servers, the one that looks later sees the other. On
 * a cluster whose replicas lag behind, both may miss each other; the log says then that a message may have arrived twice.
 */
export class DeliveryClaims {
  readonly #store: Store
  readonly #nodes: Nodes
  #version = 0

  constructor(store: Store, nodes: Nodes) {
    this.#store = store
    this.#nodes = nodes
  }

  /** False if another server makes this attempt. */
  async take(deliveryId: string, attempt: number): Promise<boolean> {
    if (!this.#nodes.isShared) return true
    await this.#write(deliveryId, attempt, false)
    for (let look = 0; look < LOOKS; look += 1) {
      const others = await this.#readOthers(deliveryId, attempt)
      if (others.length === 0) return true
      // One of two that came at the same time has to wait for the other to step back.
      if (others.some((id) => id < this.#nodes.id)) break
      await sleep(LOOK_AGAIN_MS)
    }
    await this.#write(deliveryId, attempt, true)
    return false
  }

  /** Whether a server that runs makes attempts, other than this one. */
  isOther(nodeId: string | undefined): boolean {
    return this.#nodes.list().some(({ id, isThisOne }) => id === nodeId && !isThisOne)
  }

  get nodeId(): string {
    return this.#nodes.id
  }

  /** Those that died during an attempt do not count. */
  async #readOthers(deliveryId: string, attempt: number): Promise<string[]> {
    const result = await this.#store.client.query({
      query: `SELECT node_id FROM delivery_claims FINAL
        WHERE delivery_id = {deliveryId:String} AND attempt = {attempt:UInt16} AND is_released = 0`,
      query_params: { deliveryId, attempt },
      format: 'JSONEachRow',
    })
    const rows = await result.json<{ node_id: string }>()
    return rows.map(({ node_id }) => node_id).filter((id) => this.isOther(id))
  }

  async #write(deliveryId: string, attempt: number, isReleased: boolean): Promise<void> {
    // Nobody else writes rows of this server.
    this.#version = Math.max(this.#version + 1, Date.now() * 1_000)
    const row = {
      delivery_id: deliveryId,
      attempt,
      node_id: this.#nodes.id,
      at: new Date().toISOString().replace('T', ' ').replace('Z', ''),
      is_released: isReleased ? 1 : 0,
      version: this.#version,
    }
    await this.#store.client.insert({ table: 'delivery_claims', format: 'JSONEachRow', values: [row] })
  }
}
