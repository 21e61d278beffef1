import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import { startRetention } from '../maintenance/retention.ts'
import { recomputeSessions } from '../maintenance/session-batches.ts'
import type { FreshSessions } from '../sessions/fresh-sessions.ts'
import { connectStore, type Store } from '../store/connect.ts'
import { asStoreError } from '../store/store-error.ts'
import type { StartingEngine } from '../store/start-store-engine.ts'
import type { Config } from './config.ts'
import { createServices, type Services } from './services.ts'

type Data = {
  damaged: DamagedFiles
  /** Undefined with CLICKHOUSE_URL. */
  engine: StartingEngine | undefined
}

/** Connects to the store and starts what works on it. */
export async function openServices(
  config: Config,
  { damaged, engine }: Data,
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Services> {
  const store = await connectStore({
    path: join(config.dataDirectory, 'store'),
    engine,
    clickhouseUrl: config.clickhouseUrl,
    cluster: config.clickhouseCluster,
    damaged,
    report,
  })
  cleanups.push(() => store.close())
  return createServices(config, { store, damaged }, report, cleanups)
}

/**
 * Reads which sessions are stored, deletes what is too old, and repairs what is damaged, until the server stops. Of a large store
 * that takes a while, so the server listens first.
 */
export function startMaintenance(services: Services, cleanups: (() => unknown)[]): void {
  void readKnown({ ...services, fresh: services.pipeline.fresh })
  cleanups.push(startRetention(services))
  const { repair } = services.store
  if (repair === undefined) return
  cleanups.push(
    repair.start({
      sessions: () => recomputeSessions(services),
      words: () => services.words.buildAgain(),
    }),
  )
}

/** What an earlier process left in the log has to be in the store when its sessions are read. */
async function readKnown(options: {
  fresh: FreshSessions
  store: Store
  drain: () => Promise<void>
  report: (line: string) => void
}): Promise<void> {
  const { fresh, store, drain, report } = options
  if (store.engine === undefined) return
  try {
    await drain()
    await fresh.readKnown(store)
  } catch (error) {
    if (asStoreError(error as Error) === undefined && !(error instanceof KnownError))
      report(
        `Could not read which sessions are stored, so new ones take longer to list: ${(error as Error).message}`,
      )
  }
}
