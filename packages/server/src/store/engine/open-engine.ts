import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * Only this file loads chDB, and it uses `require`: chDB's ESM entry imports the same file, and a missing build for this
 * platform must surface as our own error.
 */
const require = createRequire(import.meta.url)

type ChdbSession = {
  queryAsync(sql: string, options: { format: string }): Promise<{ bytes(): Uint8Array }>
  close(): void
}
type Chdb = {
  Session: new (path: string, options: { connectionArgs: readonly string[] }) => ChdbSession
  drainPending(): Promise<void>
}

type StatementResult = { bytes: Uint8Array }

export type Engine = {
  /** Runs `prepare` and then `statement` in a session of their own, and returns the output of `statement`. */
  run(statement: string, prepare: string[]): Promise<StatementResult>
  /** Cancels the running statement whose text contains this marker. */
  kill(marker: string): Promise<void>
  /** How the session of the next statement is prepared already. */
  prepared(): string | undefined
  /** A folder for the data of inserts, emptied at every start. */
  inbox: string
  close(): Promise<void>
}

const connectionArguments = [
  '--max_threads=2',
  // Its default, a gigabyte for each thread, would leave one thread with the limit below.
  '--max_threads_min_free_memory_per_thread=134217728',
  '--max_server_memory_usage=1500000000',
  '--mark_cache_size=268435456',
  '--background_pool_size=2',
  '--use_top_k_dynamic_filtering=0',
  '--http_max_tries=1',
]

/** Loads the library, for which no folder is needed yet. */
export function loadChdb(): Chdb {
  return require('chdb') as Chdb
}

export function openEngine(path: string, moreArguments: readonly string[] = []): Engine {
  const inbox = join(path, '..', 'inbox')
  rmSync(inbox, { recursive: true, force: true })
  mkdirSync(inbox, { recursive: true })
  mkdirSync(path, { recursive: true })
  const chdb = loadChdb()
  const connectionArgs = [...connectionArguments, ...moreArguments]
  const open = () => new chdb.Session(path, { connectionArgs })
  // Closing the last session shuts the engine down. This one keeps it running between statements.
  const keeper = open()

  // The next statement probably uses the same database. Opening a session and choosing it takes as long as a short statement.
  let spare: { session: ChdbSession; database: string } | undefined
  let isClosed = false

  async function run(statement: string, prepare: string[]): Promise<StatementResult> {
    const [database = ''] = prepare
    const isPrepared = spare?.database === database && database.startsWith('USE ')
    // A failed statement leaves its rows in the session's output, and the next statement would return them.
    const session = isPrepared ? spare!.session : open()
    if (isPrepared) spare = undefined
    try {
      // All in one, because each goes to a thread of its own and back.
      const statements = [...(isPrepared ? prepare.slice(1) : prepare), statement].join(';\n')
      const result = await session.queryAsync(statements, { format: 'TabSeparated' })
      return { bytes: result.bytes() }
    } finally {
      session.close()
      // If that fails, the next statement opens its own session, and says why it can't.
      if (database.startsWith('USE ')) setImmediate(() => void prepareSpare(database).catch(() => undefined))
    }
  }

  async function prepareSpare(database: string): Promise<void> {
    // Without a database, it is being prepared.
    if (isClosed || spare?.database === '' || spare?.database === database) return
    // The server's first statement uses another database than all others.
    spare?.session.close()
    const session = open()
    spare = { session, database: '' }
    await session.queryAsync(database, { format: 'TabSeparated' }).then(
      () => void (spare = { session, database }),
      () => {
        spare = undefined
        session.close()
      },
    )
  }

  return {
    run,
    prepared: () => spare?.database,
    inbox,
    async kill(marker) {
      // ASYNC, because waiting for a statement of another session has hung the engine.
      await run(`KILL QUERY WHERE query LIKE '%${marker}%' AND query NOT LIKE 'KILL%' ASYNC`, [])
    },
    async close() {
      isClosed = true
      spare?.session.close()
      keeper.close()
      await chdb.drainPending()
    },
  }
}
