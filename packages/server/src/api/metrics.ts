/** What the server counts about itself, given at `/metrics` in Prometheus' text form. */
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
    startedAtMs: Date.now(),
  }
}

export type Gauges = {
  pendingRows: number
  pendingBytes: number
  pendingSegments: number
  flushFailures: number
  engineRestarts: number
  liveViewers: number
  bytesInFlight: number
  residentBytes: number
}

export function renderMetrics(
  counters: Counters,
  gauges: Gauges,
  dialectFailures: ReadonlyMap<string, number>,
): string {
  const lines: string[] = []
  const add = (name: string, type: 'counter' | 'gauge', help: string, value: number) =>
    lines.push(
      `# HELP playhead_${name} ${help}`,
      `# TYPE playhead_${name} ${type}`,
      `playhead_${name} ${value}`,
    )
  add('spans_stored_total', 'counter', 'Spans acknowledged.', counters.spansStored)
  add(
    'spans_rejected_total',
    'counter',
    'Spans named as unreadable in a partial success.',
    counters.spansRejected,
  )
  add('logs_stored_total', 'counter', 'Log records acknowledged.', counters.logsStored)
  add('logs_rejected_total', 'counter', 'Log records not kept.', counters.logsRejected)
  add('requests_refused_total', 'counter', 'Requests answered with a 4xx or 503.', counters.requestsRefused)
  add('failures_total', 'counter', 'Requests answered with a 500: bugs.', counters.failures)
  add('log_pending_rows', 'gauge', 'Rows acknowledged that the store does not have yet.', gauges.pendingRows)
  add('log_pending_bytes', 'gauge', 'Their bytes on disk.', gauges.pendingBytes)
  add('log_pending_segments', 'gauge', 'Their files.', gauges.pendingSegments)
  add('log_flush_failures_total', 'counter', 'Times the store did not take a segment.', gauges.flushFailures)
  add(
    'engine_restarts_total',
    'counter',
    'Times the embedded engine was started again.',
    gauges.engineRestarts,
  )
  add('live_viewers', 'gauge', 'Open live connections.', gauges.liveViewers)
  add('request_bytes_in_flight', 'gauge', 'Bytes of request bodies in memory.', gauges.bytesInFlight)
  add(
    'resident_bytes',
    'gauge',
    'Resident memory of the server process, without the engine.',
    gauges.residentBytes,
  )
  lines.push(
    '# HELP playhead_dialect_failures_total Spans that a dialect failed to read: bugs.',
    '# TYPE playhead_dialect_failures_total counter',
  )
  for (const [dialect, count] of dialectFailures)
    lines.push(`playhead_dialect_failures_total{dialect="${dialect}"} ${count}`)
  return `${lines.join('\n')}\n`
}
