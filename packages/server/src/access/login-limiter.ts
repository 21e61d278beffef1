import { KnownError } from '../errors/known-error.ts'

const MAX_FAILURES = 10
const WINDOW_MS = 60_000

/** Limits wrong passwords, for all callers together: behind a proxy they share one address anyway. */
export class LoginLimiter {
  #failuresAtMs: number[] = []

  check(nowMs: number): void {
    this.#failuresAtMs = this.#failuresAtMs.filter((at) => nowMs - at < WINDOW_MS)
    if (this.#failuresAtMs.length >= MAX_FAILURES) {
      throw new KnownError('TOO_MANY_LOGINS', 'Too many wrong passwords. Wait a minute.', {
        retryAfterSeconds: 60,
      })
    }
  }

  noteFailure(nowMs: number): void {
    this.#failuresAtMs.push(nowMs)
  }
}
