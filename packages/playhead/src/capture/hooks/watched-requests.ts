import type { ObservedCall } from '../calls/observed-call.ts'

/**
 * The calls that are watched where the host makes them. The same requests are seen again further down, where undici
 * announces each one: only those that nobody watches yet are news there.
 */
export class WatchedRequests {
  readonly #open = new Map<string, Set<ObservedCall>>()
  readonly #announced = new WeakSet<ObservedCall>()

  add(call: ObservedCall): void {
    const { href } = call.url
    const calls = this.#open.get(href)
    if (calls === undefined) this.#open.set(href, new Set([call]))
    else calls.add(call)
  }

  remove(call: ObservedCall): void {
    const { href } = call.url
    const calls = this.#open.get(href)
    if (calls?.delete(call) === true && calls.size === 0) this.#open.delete(href)
  }

  /** True when the request that undici announces is one of them, or is sent once more on behalf of one. */
  isWatched(href: string, bytes: unknown): boolean {
    const calls = this.#open.get(href)
    if (calls === undefined) return false
    for (const call of calls) {
      if (this.#announced.has(call)) continue
      this.#announced.add(call)
      return true
    }
    return [...calls].some((call) => call.isWaiting && call.sentBytes === bytes)
  }
}
