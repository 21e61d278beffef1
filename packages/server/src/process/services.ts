import type { LoginCookies } from '../access/secrets.ts'
import type { Registry } from '../access/registry.ts'
import type { UploadedObjects } from '../store/uploaded-objects.ts'
import type { Config } from './config.ts'
import type { IngestTargets } from '../ingest/accept.ts'
import type { BodyBudget } from '../ingest/body-budget.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { Counters } from '../api/metrics.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { Store } from '../store/connect.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { StoredLogs } from '../sessions/stored-logs.ts'

/** Everything that requests are answered with; made once by `startServer`. */
export type Services = {
  config: Config
  store: Store
  storedLogs: StoredLogs
  registry: Registry
  objects: UploadedObjects
  cookies: LoginCookies | undefined
  targets: IngestTargets
  budget: BodyBudget
  live: LiveFeed
  reader: SessionReader
  refresher: SessionRefresher
  counters: Counters
  /** Flushes acknowledged rows before a read. Best effort: a read never waits for a store that is down or far behind. */
  catchUp: () => Promise<void>
  /** Flushes acknowledged rows, all of them; rejects when the store does not accept them. */
  drain: () => Promise<void>
  /** A line for whoever watches the server's output. */
  report: (line: string) => void
}
