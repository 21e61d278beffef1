import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { summarizeSession, type ResolvedStep, type SummaryContext } from '@playhead/model'
import { AuditLog } from '../access/audit.ts'
import { serverOrigin, type Site } from '../access/addresses.ts'
import { AddressGuard } from '../alerts/address-guard.ts'
import { DeliveryClaims } from '../alerts/delivery-claims.ts'
import { AlertWorker, type AlertWorkerOptions } from '../alerts/alert-worker.ts'
import { DestinationStore } from '../alerts/destination-store.ts'
import { Outbox } from '../alerts/outbox.ts'
import type { Gate } from '../access/caller.ts'
import { DailyUsage } from '../access/daily-usage.ts'
import { LastUses } from '../access/last-uses.ts'
import { Logins } from '../access/logins.ts'
import { OidcProvider } from '../access/oidc.ts'
import { People } from '../access/people.ts'
import { Registry } from '../access/registry.ts'
import { RevokedKeys } from '../access/revoked-keys.ts'
import { Shares } from '../access/shares.ts'
import type { AppServices } from '../api/app.ts'
import { createBodyBudget } from '../door/body-budget.ts'
import { FindingsQueue, type FindingsQueueOptions } from '../findings/findings-queue.ts'
import { Issues } from '../findings/issues.ts'
import { SessionFindings, type FindingsOptions } from '../findings/session-findings.ts'
import { createCounters } from '../ingest/counters.ts'
import { deriveCopies } from '../ingest/derive-step.ts'
import { DialectFailures } from '../ingest/dialect-failures.ts'
import { MAX_BYTES_IN_FLIGHT } from '../door/body-limits.ts'
import { DevRunners } from '../live/dev-runners.ts'
import { LiveFeed } from '../live/live-feed.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import { followOtherNodes } from '../nodes/follow-other-nodes.ts'
import { ServerNodes } from '../nodes/server-nodes.ts'
import { DuplicateCalls } from '../sessions/duplicate-calls.ts'
import type { DeriveCopies } from '../sessions/step-copies.ts'
import { FreshSessions } from '../sessions/fresh-sessions.ts'
import { JoinedTraces } from '../sessions/joined-traces.ts'
import { SessionRefresher } from '../sessions/refresh-sessions.ts'
import { SessionReader, type ReaderOptions } from '../sessions/session-reader.ts'
import { SessionTags } from '../sessions/session-tags.ts'
import { MonitorLoop, type MonitorLoopOptions } from '../monitors/monitor-loop.ts'
import { MonitorStore } from '../monitors/monitor-store.ts'
import { RuleResults } from '../monitors/rule-results.ts'
import { RunningSessions } from '../monitors/running-sessions.ts'
import { SessionMetrics } from '../monitors/session-metrics.ts'
import { StoredLogs } from '../sessions/stored-logs.ts'
import { Restorer } from '../maintenance/restore.ts'
import { SqlQueries } from '../sql/run-query.ts'
import type { Store } from '../store/connect.ts'
import { UploadedObjects } from '../store/uploaded-objects.ts'
import { VersionClock } from '../store/version-clock.ts'
import type { Config } from './config.ts'
import { openLogs, openPipeline } from './open-logs.ts'

/** How often a server checks for keys, projects and logins that another one changed. People are promised five seconds. */
const RELOAD_MS = 2_000
const SAVE_USES_MS = 60_000
const SAVE_USAGE_MS = 5_000

/** Everything that a running server is made of. */
export type Services = AppServices & {
  registry: Registry
  running: RunningSessions
  ruleResults: RuleResults
}

/** Creates the services in the order of their dependencies, and adds to `cleanups` how to close them. */
export async function createServices(
  config: Config,
  { store, damaged }: { store: Store; damaged: DamagedFiles },
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Services> {
  const versions = await openVersions(store)
  const nodes = await openNodes(config, store, report, cleanups)
  const gate = await openGate(config, { ...store, versions, node: nodes.id }, report, cleanups)
  const dialectFailures = new DialectFailures(report)
  const stored = await openStored(store, { versions, nodes, ...gate, dialectFailures })
  const { joined, tags, logs: storedLogs } = stored
  const { live, runners } = openLive(joined, cleanups)
  const refresher = new SessionRefresher({
    ...stored,
    versions,
    directory: await openInbox(config),
    onMoved: (project, traceIds, isListed) => live.publishMove(project, traceIds, isListed),
    onChanged: (project, id) => reader.invalidate(project, id),
    onRefreshed(project, steps, context) {
      publishRefreshed({ live, reader }, project, steps, context)
      // Until it is there, nothing is missed: it looks for what came before.
      note?.(project, steps)
    },
  })
  let note: ((project: string, steps: readonly ResolvedStep[]) => void) | undefined
  const given = { store, nodes, storedLogs, refresher, damaged, report }
  const { steps, logs, ...flushing } = await openLogs(config, given, cleanups)
  const reader: SessionReader = openReader({ ...stored, ...flushing })
  followOtherNodes({ store, nodes, live, reader, report }, cleanups)
  const settings = fromConfig(config)
  const watched = { ...settings, ...gate, store, versions, nodes, reader, joined, steps, report }
  const watch = await openWatch(watched, cleanups)
  note = watch.note
  const others = openOthers(config, { store, damaged }, cleanups)
  const restored = { ...settings, ...watch, ...stored, ...gate, ...others, storedLogs }
  const restorer = await Restorer.open({ ...restored, ...flushing, refresher, reader, report })
  const counters = createCounters()
  const received = { ...stored, ...gate, versions, steps, logs, live, counters, dialectFailures, report }
  return {
    ...settings,
    gate,
    store,
    nodes,
    joined,
    tags,
    registry: gate.registry,
    restorer,
    pipeline: openPipeline(received, cleanups),
    live,
    runners,
    ...others,
    reader,
    refresher,
    ...flushing,
    ...watch,
    counters,
    damaged,
    report,
  }
}

function openReader(options: ReaderOptions): SessionReader {
  const reader = new SessionReader(options)
  options.store.onDeleted = () => {
    options.fresh.forgetAll()
    reader.forgetAll()
  }
  return reader
}

/** A damaged part of a table is set aside, and then it can be read. */
function openVersions({ client, repair }: Store): Promise<VersionClock> {
  const open = () => VersionClock.open(client)
  return repair?.retry(open) ?? open()
}

function openLive(joined: JoinedTraces, cleanups: (() => unknown)[]) {
  const live = new LiveFeed((project, traceId) => joined.recentSessionOf(project, traceId))
  const runners = new DevRunners((project, job) => live.publishJob(project, job))
  cleanups.push(() => runners.close())
  return { live, runners }
}

function openNodes(
  config: Config,
  store: Store,
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<ServerNodes> {
  const url = config.publicUrl ?? `http${config.tls === undefined ? '' : 's'}://${hostname()}:${config.port}`
  return ServerNodes.open({ store, url: () => url, report }, cleanups)
}

/** What only needs the store, or the data folder. */
function openOthers(
  { dataDirectory }: Config,
  { store, damaged }: { store: Store; damaged: DamagedFiles },
  cleanups: (() => unknown)[],
) {
  const sql = new SqlQueries(store)
  cleanups.push(() => sql.close())
  return { sql, objects: new UploadedObjects(dataDirectory, damaged) }
}

/** Findings, issues and monitors: rules are checked whenever a session was diagnosed, monitors every few seconds. */
async function openWatch(
  options: Pick<MonitorLoopOptions, 'nodes' | 'report'> &
    FindingsOptions &
    OpenAlertsOptions &
    Pick<FindingsQueueOptions, 'steps'>,
  cleanups: (() => unknown)[],
) {
  const { store, versions } = options
  const issues = new Issues(store, versions)
  const monitors = await MonitorStore.open(store, versions)
  const ruleResults = new RuleResults(store, versions, monitors)
  const sessionMetrics = new SessionMetrics()
  const running = new RunningSessions({ ...options, monitors, results: ruleResults })
  const monitorLoop = new MonitorLoop({ ...options, issues, results: ruleResults, monitors })
  monitorLoop.start(cleanups)
  const findings = new SessionFindings({
    ...options,
    onDiagnosed: async (project, diagnosed) => {
      const summaries = diagnosed.map(({ summary }) => summary)
      sessionMetrics.count(project, summaries, Date.now())
      await ruleResults.check(project, diagnosed)
    },
  })
  const alerts = await openAlerts({ ...options, monitors }, cleanups)
  const findingsQueue = FindingsQueue.open({ ...options, findings }, cleanups)
  running.start(options.steps, cleanups)
  const note = (project: string, steps: readonly ResolvedStep[]) => {
    const isOpen = findingsQueue.note(project, steps)
    const [first] = steps
    if (first !== undefined)
      running.note(project, first.sessionId, { isOpen, startedAtMs: first.startedAtMs })
  }
  const reloadWatch = () => {
    ruleResults.forgetAll()
    return Promise.all([monitors.reload(), alerts.destinations.reload()])
  }
  const checks = { monitorLoop, running, ruleResults, sessionMetrics }
  return { findings, issues, monitors, ...checks, note, reloadWatch, ...alerts }
}

type OpenAlertsOptions = Pick<AlertWorkerOptions, 'nodes' | 'audit' | 'report'> &
  Pick<Config, 'alertAllow'> & { store: Store; versions: VersionClock; site: Site }

/** Destinations, and the worker that tells them what fires. */
async function openAlerts(
  options: OpenAlertsOptions & { monitors: MonitorStore },
  cleanups: (() => unknown)[],
) {
  const { store, versions, site, alertAllow } = options
  const destinations = await DestinationStore.open(store, versions)
  const outbox = await Outbox.open(store, versions)
  const claims = new DeliveryClaims(store, options.nodes)
  const guard = new AddressGuard(alertAllow)
  const origin = () => serverOrigin(site)
  const alertWorker = new AlertWorker({ ...options, destinations, outbox, claims, guard, origin })
  alertWorker.start(cleanups)
  return { destinations, outbox, alertWorker, addressGuard: guard }
}

/** The folder for rows on their way into the store. */
async function openInbox({ dataDirectory }: Config): Promise<string> {
  const inbox = join(dataDirectory, 'inbox')
  // Whatever a killed process left there is computed again from the steps.
  await rm(inbox, { recursive: true, force: true })
  return inbox
}

/** What is needed to compute and to read sessions. */
async function openStored(
  store: Store,
  options: {
    versions: VersionClock
    nodes: ServerNodes
    registry: Registry
    dialectFailures: DialectFailures
  },
) {
  const { versions, nodes, registry, dialectFailures } = options
  const [duplicates, logs, joined, tags] = await Promise.all([
    DuplicateCalls.open({ store, versions, hasOtherNodes: () => nodes.hasOthers() }),
    StoredLogs.open(store),
    JoinedTraces.open(store, versions),
    SessionTags.open(store, versions),
  ])
  const pricerOf = (project: string) => registry.pricerOf(project)
  const derive: DeriveCopies = (project, copies) =>
    deriveCopies(copies, pricerOf(project).pricer, dialectFailures)
  return { store, logs, duplicates, joined, tags, fresh: new FreshSessions(), derive, pricerOf }
}

function publishRefreshed(
  { live, reader }: { live: LiveFeed; reader: SessionReader },
  project: string,
  steps: readonly ResolvedStep[],
  context: Omit<SummaryContext, 'nowMs'>,
): void {
  const id = steps[0]?.sessionId
  reader.invalidate(project, id ?? '')
  if (id === undefined || !live.isWatched(project, id)) return
  live.publishSession(project, summarizeSession(steps, { nowMs: Date.now(), ...context }))
}

function fromConfig(config: Config) {
  const { host, port, tls, publicUrl, trustedProxies, dataDirectory, maxBodyBytes, alertAllow } = config
  return {
    alertAllow,
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
  { isAuthOn, password, oidc, dataDirectory }: Config,
  { versions, node, ...store }: Store & { versions: VersionClock; node: string },
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Gate> {
  const { client, engine } = store
  const revoked = await RevokedKeys.open(dataDirectory, report)
  const [registry, uses, usage, shares] = await Promise.all([
    Registry.open(store, versions, revoked),
    LastUses.open(client),
    DailyUsage.open({ store, node, report }),
    Shares.open({ store, versions, revoked, node }),
  ])
  const logins = password === undefined ? undefined : await Logins.open(client, uses, password)
  const people = oidc && (await People.open(store, versions, oidc.firstRoles))
  const audit = new AuditLog(client, report)
  const saveUses = () =>
    uses.save().catch((error: Error) => report(`could not save when keys were last used: ${error.message}`))
  const saveUsage = () =>
    usage.save().catch((error: Error) => report(`could not save how much was sent today: ${error.message}`))
  const reload = () =>
    Promise.all([
      registry.reload(),
      uses.reload(),
      usage.reload(),
      shares.reload(),
      logins?.reload(),
      people?.reload(),
    ]).catch((error: Error) => report(`could not read keys, projects and logins again: ${error.message}`))
  const every = (intervalMs: number, work: () => Promise<unknown>) => {
    const timer = setInterval(() => void work(), intervalMs)
    cleanups.push(() => clearInterval(timer))
  }
  const saveOpens = () =>
    shares
      .save()
      .catch((error: Error) => report(`could not save how often links were opened: ${error.message}`))
  cleanups.push(() => Promise.all([saveUses(), saveUsage(), saveOpens()]))
  cleanups.push(() => audit.close())
  every(SAVE_USES_MS, saveUses)
  every(SAVE_USAGE_MS, () => Promise.all([saveUsage(), saveOpens()]))
  if (engine === undefined) every(RELOAD_MS, reload)
  const provider = oidc && new OidcProvider(oidc)
  return { isAuthOn, registry, logins, people, oidc: provider, shares, uses, usage, audit }
}
