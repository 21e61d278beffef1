import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { summarizeSession, type ResolvedStep, type TagEdits } from '@playhead/model'
import { AuditLog } from '../access/audit.ts'
import type { Gate } from '../access/caller.ts'
import { LastUses } from '../access/last-uses.ts'
import { Logins } from '../access/logins.ts'
import { Registry } from '../access/registry.ts'
import type { AppServices } from '../api/app.ts'
import { createBodyBudget } from '../door/body-budget.ts'
import { createCounters } from '../ingest/counters.ts'
import { deriveCopies } from '../ingest/derive-step.ts'
import { DialectFailures } from '../ingest/dialect-failures.ts'
import { MAX_BYTES_IN_FLIGHT } from '../door/body-limits.ts'
import { LiveFeed } from '../live/live-feed.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import type { Columns } from '../log/native-block.ts'
import { firstSegmentId } from '../log/segment-ids.ts'
import { SegmentLog } from '../log/segment-log.ts'
import { DuplicateCalls } from '../sessions/duplicate-calls.ts'
import type { DeriveCopies } from '../sessions/step-copies.ts'
import { JoinedTraces } from '../sessions/joined-traces.ts'
import { SessionRefresher } from '../sessions/refresh-sessions.ts'
import { SessionReader } from '../sessions/session-reader.ts'
import { SessionTags } from '../sessions/session-tags.ts'
import { StoredLogs } from '../sessions/stored-logs.ts'
import { Restorer } from '../maintenance/restore.ts'
import type { Store } from '../store/connect.ts'
import { flushSegment } from '../store/flush-segment.ts'
import { logColumns } from '../store/logs-table.ts'
import { stepColumns } from '../store/steps-table.ts'
import { UploadedObjects } from '../store/uploaded-objects.ts'
import { VersionClock } from '../store/version-clock.ts'
import type { Config } from './config.ts'

/** How often a node checks for keys, projects and logins that another node changed. */
const RELOAD_MS = 5_000
const SAVE_USES_MS = 60_000

/** Everything that a running server is made of. */
export type Services = AppServices & { registry: Registry }

/** Creates the services in the order of their dependencies, and adds to `cleanups` how to close them. */
export async function createServices(
  config: Config,
  { store, damaged }: { store: Store; damaged: DamagedFiles },
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Services> {
  const openVersions = () => VersionClock.open(store.client)
  const versions = await (store.repair?.retry(openVersions) ?? openVersions())
  const gate = await openGate(config, { ...store, versions }, report, cleanups)
  const { registry } = gate
  const dialectFailures = new DialectFailures(report)
  const stored = await openStored(store, { versions, registry, dialectFailures })
  const { duplicates, joined, tags, logs: storedLogs, pricerOf } = stored
  const live = new LiveFeed((project, traceId) => joined.recentSessionOf(project, traceId))
  const inbox = join(config.dataDirectory, 'inbox')
  // Whatever a killed process left there is computed again from the steps.
  await rm(inbox, { recursive: true, force: true })
  const refresher = new SessionRefresher({
    ...stored,
    versions,
    directory: inbox,
    onMoved: (project, traceIds, isListed) => live.publishMove(project, traceIds, isListed),
    onRefreshed(project, steps, context) {
      reader.invalidate(project, steps[0]?.sessionId ?? '')
      publishRefreshed(live, project, steps, context)
    },
  })
  const [steps, logs] = await openLogs(config, { store, storedLogs, refresher, damaged, report })
  for (const log of [logs, steps]) cleanups.push(() => log.close())
  const catchUp = async () => void (await Promise.all([steps.catchUp(), logs.catchUp()]))
  const drain = async () => void (await Promise.all([steps.drain(), logs.drain()]))
  const reader: SessionReader = new SessionReader({ ...stored, catchUp })
  const objects = new UploadedObjects(config.dataDirectory)
  const targets = { store, storedLogs, tags, duplicates, objects, registry, refresher, reader, drain, report }
  const restorer = await Restorer.open({ ...targets, dataDirectory: config.dataDirectory })
  const counters = createCounters()
  return {
    ...fromConfig(config),
    gate,
    store,
    joined,
    tags,
    registry,
    objects,
    restorer,
    pipeline: { steps, logs, live, pricerOf, counters, dialectFailures, nextArrival: () => versions.next() },
    live,
    reader,
    refresher,
    counters,
    damaged,
    catchUp,
    drain,
    report,
  }
}

/** What is needed to compute and to read sessions. */
async function openStored(
  store: Store,
  options: { versions: VersionClock; registry: Registry; dialectFailures: DialectFailures },
) {
  const { versions, registry, dialectFailures } = options
  const [duplicates, logs, joined, tags] = await Promise.all([
    DuplicateCalls.open(store, versions),
    StoredLogs.open(store),
    JoinedTraces.open(store, versions),
    SessionTags.open(store, versions),
  ])
  const pricerOf = (project: string) => registry.pricerOf(project)
  const derive: DeriveCopies = (project, copies) =>
    deriveCopies(copies, pricerOf(project).pricer, dialectFailures)
  return { store, logs, duplicates, joined, tags, derive, pricerOf }
}

function publishRefreshed(
  live: LiveFeed,
  project: string,
  steps: readonly ResolvedStep[],
  context: { lastHeardAtMs: number; tagEdits: TagEdits | undefined },
): void {
  const id = steps[0]?.sessionId
  if (id === undefined || !live.isWatched(project, id)) return
  live.publishSession(project, summarizeSession(steps, { nowMs: Date.now(), ...context }))
}

function fromConfig({ host, port, tls, publicUrl, trustedProxies, dataDirectory, maxBodyBytes }: Config) {
  return {
    site: { host, port, isTlsOn: tls !== undefined, publicUrl, trustedProxies },
    bodyLimits: {
      maxBytes: maxBodyBytes,
      maxInflatedBytes: maxBodyBytes,
      budget: createBodyBudget(Math.max(MAX_BYTES_IN_FLIGHT, 2 * maxBodyBytes)),
    },
    dataDirectory,
  }
}

/** Other nodes may change keys, projects and logins of a shared store, so they are read again from time to time. */
async function openGate(
  { isAuthOn, password }: Config,
  { versions, ...store }: Store & { versions: VersionClock },
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Gate> {
  const { client, engine } = store
  const [registry, uses] = await Promise.all([Registry.open(store, versions), LastUses.open(client)])
  const logins = password === undefined ? undefined : await Logins.open(client, uses, password)
  const audit = new AuditLog(client, report)
  const every = (intervalMs: number, work: () => Promise<unknown>) => {
    const timer = setInterval(() => void work().catch((error: Error) => report(error.message)), intervalMs)
    cleanups.push(() => clearInterval(timer))
  }
  cleanups.push(() => uses.save().catch((error: Error) => report(error.message)))
  cleanups.push(() => audit.close())
  every(SAVE_USES_MS, () => uses.save())
  if (engine === undefined)
    every(RELOAD_MS, () => Promise.all([registry.reload(), uses.reload(), logins?.reload()]))
  return { isAuthOn, registry, logins, uses, audit }
}

async function openLogs(
  config: Config,
  options: {
    store: Store
    storedLogs: StoredLogs
    refresher: SessionRefresher
    damaged: DamagedFiles
    report: (line: string) => void
  },
) {
  const { store, storedLogs, refresher, damaged, report } = options
  const root = join(config.dataDirectory, 'log')
  const firstId = await firstSegmentId(root, damaged)
  const open = <Row>(name: 'steps' | 'logs', columns: Columns<Row>) =>
    SegmentLog.open({
      name,
      damaged,
      directory: join(root, name),
      columns,
      firstId,
      flush: (segment) => {
        if (name === 'logs') storedLogs.expectSome()
        return flushSegment(segment, { name, columns: Object.keys(columns) }, store, (...sessions) =>
          refresher.refresh(...sessions),
        )
      },
      report,
    })
  return Promise.all([open('steps', stepColumns), open('logs', logColumns)])
}
