import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  ClickHouseLogLevel,
  createClient,
  type ClickHouseClient,
  type ClickHouseSettings,
} from '@clickhouse/client'
import { exportFromEngine, exportFromServer, type ExportRows } from './export-rows.ts'
import { EngineClient } from './engine/engine-client.ts'
import type { EngineProcess } from './engine/start-engine.ts'
import { BadRows } from './bad-rows.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import { migrate } from './migrate.ts'
import { PartRepair } from './part-repair.ts'
import { SessionChanges } from './session-changes.ts'
import { startStoreEngine, type StartingEngine } from './start-store-engine.ts'
import { forgetDefinitions, saveDefinitions } from './table-definitions.ts'
import { asStartError } from './store-error.ts'
import { WordMarks } from './word-marks.ts'

/** The database: the embedded engine or a ClickHouse server, behind one client. */
export type Store = {
  client: ClickHouseClient
  /** The embedded engine; undefined with CLICKHOUSE_URL. */
  engine: EngineProcess | undefined
  /** Finds and sets aside damaged parts of the embedded engine. */
  repair: PartRepair | undefined
  /** The name of the cluster that the tables are distributed over, if any. */
  cluster: string | undefined
  /** Runs an `INSERT … FORMAT Native` with the contents of a file. With the same `token`, a replicated table ignores a repeated insert. */
  insertFile(statement: string, path: string, token: string, settings?: ClickHouseSettings): Promise<void>
  exportRows: ExportRows
  /** A client whose statements run in another database. Close it. */
  openDatabase(name: string): ClickHouseClient
  /** The rows that could not be read. */
  badRows: BadRows
  /** Called after rows were deleted. */
  onDeleted: () => void
  /** Told of each change of the table `sessions` by this process. */
  sessions: SessionChanges
  /** Which steps have their words in the table `words`. */
  words: WordMarks
  close(): Promise<void>
}

export type StoreSettings = {
  /** Folder of the embedded engine. */
  path: string
  /** The embedded engine, if it is started already. */
  engine?: StartingEngine | undefined
  clickhouseUrl?: string | undefined
  cluster?: string | undefined
  /** Where damaged definitions of tables are kept. */
  damaged?: DamagedFiles
  report: (line: string) => void
}

const DATABASE = 'playhead'
const REQUEST_TIMEOUT_MS = 120_000
/** Checked at every start. Reading this much takes a fraction of a second. */
const SMALL_TABLE_BYTES = 8 * 1024 ** 2
const everyClient = {
  request_timeout: REQUEST_TIMEOUT_MS,
  // We report failures ourselves, once.
  log: { level: ClickHouseLogLevel.OFF },
  clickhouse_settings: { output_format_json_quote_64bit_integers: 0, date_time_input_format: 'best_effort' },
} as const

/**
 * On a cluster, a subquery (IN, JOIN) runs once for all shards. A deletion may select its sessions with a subquery, because
 * replicas that run it at different times reach the same result.
 */
const onShards: ClickHouseSettings = {
  distributed_product_mode: 'global',
  allow_nondeterministic_mutations: 1,
}

/** Connects to the embedded engine, or to the server at `clickhouseUrl`, and migrates its tables. */
export async function connectStore(settings: StoreSettings): Promise<Store> {
  const { clickhouseUrl, cluster } = settings
  try {
    const store =
      clickhouseUrl === undefined
        ? await connectEngine(settings)
        : await connectServer(clickhouseUrl, cluster, settings.report)
    await prepareTables(store, settings).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    return store
  } catch (error) {
    throw asStartError(error, clickhouseUrl)
  }
}

async function prepareTables(store: Store, { path, report }: StoreSettings): Promise<void> {
  if (store.engine === undefined) {
    await migrate(store, async () => undefined)
    return store.words.read()
  }
  await store.repair?.checkAll({ maxTableBytes: SMALL_TABLE_BYTES })
  await migrate(store, () => forgetDefinitions(path))
  const saved = saveDefinitions(path).catch((error: Error) =>
    report(`could not save a copy of the definitions of the tables: ${error.message}`),
  )
  await Promise.all([saved, store.words.read()])
}

async function connectEngine(settings: StoreSettings): Promise<Store> {
  const { started } = settings.engine ?? (await startStoreEngine(settings))
  const engine = await started
  const open = (database: string) =>
    new EngineClient({
      socketPath: engine.socketPath,
      database,
      settings: everyClient.clickhouse_settings,
    })
  // chDB's default database lacks features that a server's has. An Atomic database has them.
  await createDatabase(
    open('default').asClickHouseClient(),
    `CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`,
  ).catch(async (error: unknown) => {
    await engine.stop()
    throw error
  })
  const own = open(DATABASE)
  const client = own.asClickHouseClient()
  const { path, damaged, report } = settings
  const repair = damaged && new PartRepair({ client, engine, path, damaged, report })
  const sessions = new SessionChanges()
  const { onRestarted } = engine
  engine.onRestarted = (isDiskFull) => {
    // Damaged parts may have been set aside.
    sessions.changed()
    onRestarted(isDiskFull)
  }
  return {
    client,
    engine,
    repair,
    cluster: undefined,
    exportRows: exportFromEngine(client, join(dirname(settings.path), 'inbox')),
    openDatabase: (name) => open(name).asClickHouseClient(),
    badRows: new BadRows(settings.report),
    onDeleted: () => undefined,
    sessions,
    words: new WordMarks(client, false),
    insertFile: (statement, path, _token, settings = {}) => own.insertFile(statement, path, settings),
    async close() {
      await own.close()
      await engine.stop()
    },
  }
}

async function connectServer(
  url: string,
  cluster: string | undefined,
  report: (line: string) => void,
): Promise<Store> {
  const address = new URL(url)
  // The path selects the database: `http://host:8123/name`. Without one, we use our own.
  const database = address.pathname.replaceAll('/', '') || DATABASE
  address.pathname = '/'
  const open = (name: string) =>
    createClient({
      url: address,
      database: name,
      ...everyClient,
      clickhouse_settings: { ...everyClient.clickhouse_settings, ...(cluster !== undefined && onShards) },
      max_open_connections: 32,
      compression: { response: true, request: false },
    })
  const onCluster = cluster === undefined ? '' : `ON CLUSTER '${cluster}'`
  await createDatabase(open('default'), `CREATE DATABASE IF NOT EXISTS \`${database}\` ${onCluster}`)
  const client = open(database)
  return {
    client,
    engine: undefined,
    repair: undefined,
    cluster,
    exportRows: exportFromServer(client),
    openDatabase: open,
    badRows: new BadRows(report),
    onDeleted: () => undefined,
    sessions: new SessionChanges(),
    words: new WordMarks(client, true),
    async insertFile(statement, path, token, settings = {}) {
      const { stream } = await client.exec({
        query: statement,
        values: createReadStream(path),
        clickhouse_settings: {
          ...settings,
          insert_deduplication_token: token,
          distributed_foreground_insert: 1,
        },
      })
      stream.resume()
      await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject))
    },
    close: () => client.close(),
  }
}

async function createDatabase(client: ClickHouseClient, statement: string): Promise<void> {
  try {
    await client.command({ query: statement })
  } finally {
    await client.close()
  }
}
