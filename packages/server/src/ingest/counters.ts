/** What the server counts about itself, for `/metrics` and the health page. */
export type Counters = {
  spansStored: number
  spansRejected: number
  logsStored: number
  logsRejected: number
  requestsRefused: number
  failures: number
  startedAtMs: number
}

export function createCounters(): Counters {
  return {
    spansStored: 0,
    spansRejected: 0,
    logsStored: 0,
    logsRejected: 0,
    requestsRefused: 0,
    failures: 0,
    startedAtMs: performance.now(),
  }
}

/** Where requests that fail are counted and reported. */
export type Diagnostics = {
  counters: Counters
  /** Prints a line to the server's output. */
  report: (line: string) => void
}
