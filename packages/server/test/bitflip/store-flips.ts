import { readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DamagedFiles } from '../../src/log/damaged-files.ts'
import { connectStore, type Store } from '../../src/store/connect.ts'
import type { EngineProcess } from '../../src/store/engine/start-engine.ts'
import { PartRepair } from '../../src/store/part-repair.ts'
import { restoreDefinitions, restoreRowCounts } from '../../src/store/table-definitions.ts'
import { chooseFlip, filesIn, flipBit, judge, type Flip, type Observed, type OnOutcome } from './flip.ts'
import { compareSpans, copyFolder, hashesIn, type Sample } from './sample.ts'

const caches = ['MARK', 'UNCOMPRESSED', 'INDEX MARK', 'INDEX UNCOMPRESSED', 'PRIMARY INDEX']

type Table = { name: string; folder: string; pristine: string }

/**
 * Flips bits of the parts of all tables, one at a time. The engine stays up: a table is detached, damaged and attached, which
 * loads its parts like a start does; then the store is checked and everything in it is compared. It is detached with SYNC,
 * because a table that a query still uses can't be attached again.
 */
export async function flipStore(
  { sample, folder, random }: { sample: Sample; folder: string; random: () => number },
  count: number,
  onOutcome: OnOutcome,
): Promise<void> {
  const path = join(folder, 'store')
  copyFolder(join(sample.whole, 'store'), path)
  const store = await connectStore({ path, report: () => undefined })
  try {
    const tables = await prepare(store, join(folder, 'pristine'))
    const others = await readOthers(store)
    const files = tables.flatMap(({ pristine }) => filesIn(pristine))
    for (let done = 0; done < count; done++) {
      const chosen = chooseFlip(files, random)
      const table = tables.find(({ pristine }) => chosen.file.startsWith(join(pristine, '/')))!
      const flip = { ...chosen, file: join(table.folder, relative(table.pristine, chosen.file)) }
      const damagedFolder = join(folder, 'damaged')
      const observed = await tryFlip({ store, path, table, flip, damagedFolder }, () =>
        compareAll(store, sample, others),
      )
      if (observed instanceof Error) onOutcome(flip, 'no start', observed.message)
      else onOutcome(flip, judge(observed))
      await attachAgain(store, table)
      rmSync(damagedFolder, { recursive: true, force: true })
    }
  } finally {
    await store.close()
  }
}

/** Keeps a copy of the active parts of every table. Without the parts that they were merged from, nothing can replace them. */
async function prepare(store: Store, pristine: string): Promise<Table[]> {
  await store.client.command({ query: 'SYSTEM STOP MERGES' })
  const result = await store.client.query({
    query: `SELECT table AS name, groupArray(path) AS parts FROM system.parts
      WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table`,
    format: 'JSONEachRow',
  })
  const tables: Table[] = []
  for (const { name, parts } of await result.json<{ name: string; parts: string[] }>()) {
    const folder = dirname(parts[0]!.replace(/\/$/, ''))
    await store.client.command({ query: `DETACH TABLE ${name} SYNC` })
    for (const entry of readdirSync(folder))
      if (/_\d+_\d+_\d+/.test(entry) && !parts.includes(join(folder, entry, '/')))
        rmSync(join(folder, entry), { recursive: true })
    tables.push({ name, folder, pristine: join(pristine, name) })
    copyFolder(folder, join(pristine, name))
    await store.client.command({ query: `ATTACH TABLE ${name}` })
  }
  return tables
}

type Attempt = { store: Store; path: string; table: Table; flip: Flip; damagedFolder: string }

async function tryFlip(
  { store, path, table, flip, damagedFolder }: Attempt,
  compare: () => Promise<{ lost: number; altered: number }>,
): Promise<Observed | Error> {
  const { client } = store
  const reports: string[] = []
  const damaged = await DamagedFiles.open(damagedFolder, (line) => void reports.push(line))
  await detachPristine(store, table)
  flipBit(flip)
  await restoreDefinitions(path, damaged)
  await restoreRowCounts(path, damaged)
  for (const cache of caches)
    await client.command({ query: `SYSTEM DROP ${cache} CACHE` }).catch(() => undefined)
  try {
    await client.command({ query: `ATTACH TABLE ${table.name}` })
  } catch (error) {
    return error as Error
  }
  const engine = {
    async restartAfter(work: () => Promise<void>) {
      await client.command({ query: `DETACH TABLE ${table.name} SYNC` })
      await work()
      await client.command({ query: `ATTACH TABLE ${table.name}` })
    },
  } as EngineProcess
  const repair = new PartRepair({ client, engine, path, damaged, report: (line) => void reports.push(line) })
  await repair.checkAll()
  return { ...(await compare()), isReported: reports.length > 0 }
}

async function attachAgain(store: Store, table: Table): Promise<void> {
  await detachPristine(store, table)
  await store.client.command({ query: `ATTACH TABLE ${table.name}` })
}

/** Leaves the table detached, with the parts that it had at first: the engine may have merged them since. */
async function detachPristine({ client }: Store, { name, folder, pristine }: Table): Promise<void> {
  await client.command({ query: `DETACH TABLE IF EXISTS ${name} SYNC` })
  rmSync(folder, { recursive: true })
  copyFolder(pristine, folder)
}

type Rows = { current: string[]; all: Set<string> }

/** The rows of the other tables, each as text: those that count, and all, which a merge may reduce to the former at any time. */
async function readOthers({ client }: Store): Promise<Rows[]> {
  const read = async (query: string) =>
    (await (await client.query({ query, format: 'JSONEachRow' })).text()).split('\n')
  return Promise.all(
    ['sessions', 'keys', 'projects', 'duplicate_calls', 'logs'].map(async (table) => ({
      current: await read(`SELECT * FROM ${table} FINAL`),
      all: new Set(await read(`SELECT * FROM ${table}`)),
    })),
  )
}

async function compareAll(
  store: Store,
  sample: Sample,
  before: readonly Rows[],
): Promise<{ lost: number; altered: number }> {
  const all = compareSpans(sample, await hashesIn(store, sample.ids))
  const after = await readOthers(store)
  for (const [index, rows] of before.entries()) {
    const found = new Set(after[index]!.current)
    all.lost += rows.current.filter((row) => !found.has(row)).length
    all.altered += [...found].filter((row) => !rows.all.has(row)).length
  }
  return all
}
