import { KnownError } from '../errors/known-error.ts'

/** Wrong passwords from one address before it has to wait: 2 seconds, then twice as long after each. */
const FREE_ATTEMPTS = 5
const MAX_WAIT_MS = 60_000
/** After this long without a wrong password, an address starts over. */
const FORGET_MS = 15 * 60_000

/** Wrong passwords in all, so that many addresses together can't guess fast either. */
export const MAX_FAILURES_PER_MINUTE = 100
const MINUTE_MS = 60_000

const HOW_TO_RECOVER =
  'If you own this server, get a link that logs you in: run "playhead login-link" on its machine.'

/**
 * Slows down guessing. Times come from a clock that never jumps. Attempts that are refused here are not judged, so they
 * are not counted either, which bounds what is remembered.
 */
export class LoginLimiter {
  readonly #addresses = new Map<string, { failures: number; lastAtMs: number }>()
  #recent: number[] = []

  /** Throws if this address, or everyone, has to wait. */
  check(address: string, nowMs: number): void {
    const known = this.#addresses.get(address)
    const waitMs = known === undefined ? 0 : known.lastAtMs + delayAfter(known.failures) - nowMs
    if (waitMs > 0) throw tooMany(`Too many wrong passwords from ${address}.`, waitMs)
    this.#recent = this.#recent.filter((atMs) => nowMs - atMs < MINUTE_MS)
    if (this.#recent.length >= MAX_FAILURES_PER_MINUTE)
      throw tooMany('Too many wrong passwords from many addresses.', this.#recent[0]! + MINUTE_MS - nowMs)
  }

  noteFailure(address: string, nowMs: number): void {
    this.#recent.push(nowMs)
    for (const [other, { lastAtMs }] of this.#addresses)
      if (nowMs - lastAtMs > FORGET_MS) this.#addresses.delete(other)
    const failures = (this.#addresses.get(address)?.failures ?? 0) + 1
    this.#addresses.set(address, { failures, lastAtMs: nowMs })
  }

  noteSuccess(address: string): void {
    this.#addresses.delete(address)
  }
}

function delayAfter(failures: number): number {
  return failures < FREE_ATTEMPTS ? 0 : Math.min(2 ** (failures - FREE_ATTEMPTS + 1) * 1_000, MAX_WAIT_MS)
}

function tooMany(what: string, waitMs: number): KnownError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000)
  const seconds = `${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}`
  return new KnownError('TOO_MANY_LOGINS', `${what} Wait ${seconds}. ${HOW_TO_RECOVER}`, {
    retryAfterSeconds,
  })
}
