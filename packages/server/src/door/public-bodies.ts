import { MAX_PUBLIC_BODIES, MAX_PUBLIC_BODIES_PER_ADDRESS } from './body-limits.ts'

type Arrival = { address: string; giveWay: () => void }

/**
 * Bounds the bodies that arrive from callers we don't know yet. A genuine one arrives together with its head, so the
 * oldest is the one that stalls: it gives way to a new one, and nobody has to wait for stalled ones.
 */
export class PublicBodies {
  readonly #arrivals = new Set<Arrival>()

  get count(): number {
    return this.#arrivals.size
  }

  /** Makes room for a body and returns a function that ends its stay. `giveWay` is called if a newer one needs its place. */
  enter(address: string, giveWay: () => void): () => void {
    const own = [...this.#arrivals].filter((arrival) => arrival.address === address)
    const [oldest] = own.length >= MAX_PUBLIC_BODIES_PER_ADDRESS ? own : this.#arrivals
    const isFull = own.length >= MAX_PUBLIC_BODIES_PER_ADDRESS || this.#arrivals.size >= MAX_PUBLIC_BODIES
    if (oldest !== undefined && isFull) {
      this.#arrivals.delete(oldest)
      oldest.giveWay()
    }
    const arrival = { address, giveWay }
    this.#arrivals.add(arrival)
    return () => void this.#arrivals.delete(arrival)
  }
}
