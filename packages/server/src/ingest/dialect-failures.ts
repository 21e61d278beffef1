import type { DialectFailure } from '@playhead/model'

/** Takes the failures of the dialects that threw. */
export type FailureSink = { note: (failures: readonly DialectFailure[]) => void }

const REPORT_EVERY_MS = 3_600_000
const MAX_MESSAGE_LENGTH = 200

/** Counts the dialects that throw while they read spans, and reports each of them at most once an hour. */
export class DialectFailures implements FailureSink {
  readonly counts = new Map<string, number>()
  readonly #reportedAtMs = new Map<string, number>()
  readonly #report: (line: string) => void
  readonly #now: () => number

  constructor(report: (line: string) => void, now: () => number = Date.now) {
    this.#report = report
    this.#now = now
  }

  note(failures: readonly DialectFailure[]): void {
    for (const { dialect, message } of failures) {
      const count = (this.counts.get(dialect) ?? 0) + 1
      this.counts.set(dialect, count)
      const atMs = this.#now()
      if (atMs - (this.#reportedAtMs.get(dialect) ?? -Infinity) < REPORT_EVERY_MS) continue
      this.#reportedAtMs.set(dialect, atMs)
      this.#report(
        `The dialect "${dialect}" failed on a span (${message.slice(0, MAX_MESSAGE_LENGTH)}), ${count} so far. The span is stored. This is a bug: please report it, then run "playhead rederive" with the fixed version.`,
      )
    }
  }
}
