import type { SessionSummary } from '@playhead/model'
import { payloadSize } from '../store/steps-table.ts'
import type { ResolvedSession } from './resolved-sessions.ts'
import type { StoredSpan } from './stored-steps.ts'

/** The size of a session's payloads. */
export function bytesOf({ rows }: ResolvedSession): number {
  let bytes = 0
  for (const { version } of rows.values()) bytes += payloadSize(version)
  return bytes
}

/** Whether these are the rows that count of all steps. */
export function hasRowsOf({ rows }: ResolvedSession, spans: readonly StoredSpan[]): boolean {
  const found = spans.filter(({ span, version, arrival }) => {
    const current = rows.get(span.spanId)
    return current?.version === version && current.arrival === arrival
  })
  return new Set(found.map(({ span }) => span.spanId)).size === rows.size
}

/** Differs whenever a step, a log record or the end state does. */
export function stampOf({ rows, logs }: ResolvedSession, { session }: { session: SessionSummary }): string {
  let [newest, latest] = [0, 0]
  for (const { version, arrival } of rows.values()) {
    newest = Math.max(newest, version)
    latest = Math.max(latest, arrival)
  }
  return [rows.size, newest, latest, logs.length, session.endState].join(' ')
}
