import type { ObservedCall } from '../calls/observed-call.ts'

/**
 * The calls that a hook already observes. Undici publishes the same requests on its diagnostics channels, where only
 * those that no hook observes yet matter.
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

  /** True if a request that undici publishes belongs to one of them, or is a retry of one. */
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
