import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError, type ClickHouseClient } from '@clickhouse/client'
import type { DamagedFiles } from '../log/damaged-files.ts'
import type { EngineProcess } from './engine/start-engine.ts'
import { isTransient } from './store-error.ts'
import { tableFolders } from './table-definitions.ts'

type Part = {
  table: string
  name: string
  path: string
  rows: number
  bytes_on_disk: number
  partition_id: string
  min_block_number: number
  max_block_number: number
}

export type PartRepairOptions = {
  client: ClickHouseClient
  engine: EngineProcess
  /** The folder of the embedded engine. */
  path: string
  damaged: DamagedFiles
  report: (line: string) => void
}

/** Computes a table that is derived from the steps again. */
type Recompute = { sessions: () => Promise<void>; words: () => Promise<void> }

const FIRST_CHECK_MS = 5_000
const CHECK_INTERVAL_MS = 86_400_000
const RETRY_MS = 60_000
/** After each part, the check rests for this many times as long as the part took. */
const REST_RATIO = 3
/** Where a start waits for the check. Most of a small part's time is the statement. */
const CHECKED_AT_ONCE = 4
/** Damage makes at least a block unreadable. Narrowing it down further finds nothing. */
const SMALLEST_RANGE_ROWS = 64
const UNKNOWN_TABLE = '60'
const TABLE_IS_DROPPED = '218'

/**
 * Finds damaged parts in the tables of the embedded engine: at the start, once a day, and when a query meets one. What is
 * readable in such a part is saved; the part is set aside and reported. Left alone, the engine would fail every query that
 * touches it, or drop the whole part at the next start without a word.
 */
export class PartRepair {
  readonly #options: PartRepairOptions
  #work: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #areSessionsLost = false
  #areWordsLost = false
  #recompute: Recompute | undefined
  readonly #reported = new Set<string>()

  constructor(options: PartRepairOptions) {
    this.#options = options
    options.engine.onDamage = (message) => this.#onDamage(message)
    options.engine.onRestarted = (isDiskFull) => {
      this.#queue(() => this.#keepDetached(isDiskFull)).catch((error: Error) => this.#complain(error))
    }
  }

  /** Checks everything now and then, until the returned function is called. Lost rows of derived tables are computed again. */
  start(recompute: Recompute): () => void {
    this.#recompute = recompute
    const run = async () => {
      const nextMs = await this.checkAll({ restRatio: REST_RATIO }).then(
        () => CHECK_INTERVAL_MS,
        (error: Error) => this.#complain(error),
      )
      if (!this.#isStopped) this.#timer = setTimeout(() => void run(), nextMs).unref()
    }
    this.#timer = setTimeout(() => void run(), FIRST_CHECK_MS).unref()
    return () => {
      this.#isStopped = true
      clearTimeout(this.#timer)
    }
  }

  /** Compares the parts with their checksums: all of them, or those of small tables, which the server reads at its start. */
  checkAll({ restRatio = 0, maxTableBytes = Infinity } = {}): Promise<void> {
    return this.#queue(async () => {
      await this.#keepDetached()
      const parts = await this.#parts('active')
      const bytesOf = (table: string) =>
        parts.reduce((sum, part) => sum + (part.table === table ? part.bytes_on_disk : 0), 0)
      const checked = parts.filter(({ table }) => bytesOf(table) <= maxTableBytes)
      const atOnce = restRatio === 0 ? CHECKED_AT_ONCE : 1
      for (let at = 0; at < checked.length; at += atOnce) {
        if (this.#isStopped) return
        const startedAtMs = performance.now()
        const group = checked.slice(at, at + atOnce)
        const problems = await Promise.all(group.map((part) => this.#problemOf(part)))
        // To set a part aside takes a while, and the next one may have been merged meanwhile.
        for (const [place, part] of group.entries())
          if (problems[place] !== undefined) await this.#check(part)
        if (restRatio > 0)
          await pause((performance.now() - startedAtMs) * restRatio, undefined, { ref: false })
      }
      await this.#recomputeLost()
    })
  }

  async #recomputeLost(): Promise<void> {
    if (this.#recompute === undefined) return
    if (this.#areWordsLost) await this.#recompute.words()
    this.#areWordsLost = false
    if (this.#areSessionsLost) await this.#recompute.sessions()
    this.#areSessionsLost = false
  }

  /** Does work that reads the store; once more after a repair, if it meets a damaged file. */
  async retry<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (!isUnreadable(error)) throw error
      await this.checkAll()
      return work()
    }
  }

  #onDamage(message: string): void {
    const name = /from part \S*?\/([^/\s]+)\/? /.exec(message)?.[1]
    void this.#queue(async () => {
      for (const part of await this.#parts('active')) if (part.name === name) await this.#check(part)
      if (this.#areSessionsLost || this.#areWordsLost)
        void this.checkAll({ restRatio: REST_RATIO }).catch(() => undefined)
    }).catch((error: Error) => this.#complain(error))
  }

  /** Returns when to try again. A lost connection needs no report: whoever restarts the engine reports it. */
  #complain(error: Error): number {
    if (isUnreadable(error) && !this.#isStopped && !this.#reported.has(error.message)) {
      this.#reported.add(error.message)
      this.#options.report(`could not check the files of the store: ${error.message}`)
    }
    return RETRY_MS
  }

  /** One repair at a time. */
  #queue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#work.catch(() => undefined).then(work)
    this.#work = result
    return result
  }

  async #check(part: Part): Promise<void> {
    const problem = await this.#problemOf(part)
    if (problem === undefined) return
    const lost = (await this.#isReplaceable(part)) ? 0 : await this.#saveReadable(part, problem)
    const { engine, damaged } = this.#options
    const saved =
      lost === 0 ? 'All its rows were saved.' : `${part.rows - lost} of its ${part.rows} rows were saved.`
    await engine.restartAfter(() =>
      damaged.add(`store-${part.table}-${part.name}`, (path) => move(part.path, path), {
        problem: `part ${part.name} of the table ${part.table} is damaged (${problem}). ${saved}${warningFor(part.table, lost)}`,
        blocks: null,
        rows: lost,
      }),
    )
    if (lost > 0) this.#noteLost(part.table)
  }

  #noteLost(table: string): void {
    if (table === 'sessions') this.#areSessionsLost = true
    if (table.startsWith('word')) this.#areWordsLost = true
  }

  async #problemOf(part: Part): Promise<string | undefined> {
    try {
      const [row] = await this.#read<{ is_passed: number; message: string }>(
        `CHECK TABLE ${part.table} PART '${part.name}' SETTINGS check_query_single_value_result = 0`,
      )
      return row === undefined || row.is_passed === 1 ? undefined : shorten(row.message)
    } catch (error) {
      if (isTableGone(error)) return undefined
      if (!isUnreadable(error)) throw error
      // A part that was merged in the meantime is gone.
      const parts = await this.#parts('active')
      return parts.some(({ path }) => path === part.path) ? shorten(error.message) : undefined
    }
  }

  /** Whether the parts that it was merged from are still there: the engine goes back to them when it is gone. */
  async #isReplaceable(part: Part): Promise<boolean> {
    const inside = (await this.#parts('inactive')).filter(
      (other) =>
        other.table === part.table &&
        other.partition_id === part.partition_id &&
        other.min_block_number >= part.min_block_number &&
        other.max_block_number <= part.max_block_number,
    )
    const rows = inside.reduce((sum, other) => sum + other.rows, 0)
    return (
      rows >= part.rows &&
      inside.some((other) => other.min_block_number === part.min_block_number) &&
      inside.some((other) => other.max_block_number === part.max_block_number)
    )
  }

  /** Copies the readable rows into a new part. Returns how many are lost. */
  async #saveReadable(part: Part, problem: string): Promise<number> {
    const file = /for file (\S+)/.exec(problem)?.[1]
    // If these are wrong, values can be read wrongly.
    if (file !== undefined && /\.(txt|json)$/.test(file)) return part.rows
    let lost = 0
    const readable: [start: number, end: number][] = []
    const search = async (start: number, end: number): Promise<void> => {
      if (await this.#isReadable(part, start, end)) return void readable.push([start, end])
      if (end - start <= SMALLEST_RANGE_ROWS) return void (lost += end - start)
      const middle = Math.floor((start + end) / 2)
      await search(start, middle)
      await search(middle, end)
    }
    await search(0, part.rows)
    for (const [start, end] of readable)
      await this.#options.client.command({
        query: `INSERT INTO ${part.table} ${rowsOf(part)}`,
        query_params: { name: part.name, start, end },
      })
    return lost
  }

  async #isReadable(part: Part, start: number, end: number): Promise<boolean> {
    try {
      const query = `${rowsOf(part)} FORMAT Null`
      await this.#options.client.command({ query, query_params: { name: part.name, start, end } })
      return true
    } catch (error) {
      if (isUnreadable(error)) return false
      throw error
    }
  }

  /** Moves the parts that the engine could not load, and detached by itself, to the other damaged files. */
  async #keepDetached(isDiskFull = false): Promise<void> {
    const { path: store, damaged } = this.#options
    const tables = await this.#read<{ name: string; uuid: string }>(
      'SELECT name, toString(uuid) AS uuid FROM system.tables WHERE database = currentDatabase()',
    )
    for (const folder of await tableFolders(store)) {
      const detached = join(store, folder, 'detached')
      const table = tables.find(({ uuid }) => folder.endsWith(uuid))?.name ?? 'unknown'
      for (const name of await readdir(detached).catch(() => [])) {
        // A write that failed is repeated, and a merge that failed has its sources.
        const lost = isDiskFull ? 0 : await this.#lostRows(table, name, join(detached, name))
        if (lost !== 0) this.#noteLost(table)
        await damaged.add(`store-${table}-${name}`, (path) => move(join(detached, name), path), {
          problem: `the engine could not load part ${name.replace(/^.*?_(?=\w+_\d+_\d+_\d+)/, '')} of the table ${table}. ${describeLost(table, lost)}${warningFor(table, lost)}`,
          blocks: null,
          rows: lost,
        })
      }
    }
  }

  /** How many rows a part that the engine detached had and no other part has; null if unknown. */
  async #lostRows(table: string, name: string, path: string): Promise<number | null> {
    const [, partition, min, max] = /([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name) ?? []
    const rows = Number.parseInt(await readFile(join(path, 'count.txt'), 'utf8').catch(() => ''), 10)
    const inside = (await this.#parts('active')).filter(
      (part) =>
        part.table === table &&
        part.partition_id === partition &&
        part.min_block_number >= Number(min) &&
        part.max_block_number <= Number(max),
    )
    const others = inside.reduce((sum, part) => sum + part.rows, 0)
    if (inside.some((part) => part.max_block_number === Number(max)) && !(others < rows)) return 0
    return Number.isNaN(rows) ? null : Math.max(0, rows - others)
  }

  #parts(state: 'active' | 'inactive'): Promise<Part[]> {
    return this.#read<Part>(
      `SELECT table, name, path, rows, bytes_on_disk, partition_id, min_block_number, max_block_number FROM system.parts
        WHERE database = currentDatabase() AND active = ${state === 'active' ? 1 : 0} ORDER BY table, name`,
    )
  }

  async #read<Row>(query: string): Promise<Row[]> {
    const result = await this.#options.client.query({ query, format: 'JSONEachRow' })
    return result.json<Row>()
  }
}

function rowsOf({ table }: Part): string {
  return `SELECT * FROM ${table} WHERE _part = {name:String} AND _part_offset >= {start:UInt64} AND _part_offset < {end:UInt64} SETTINGS use_skip_indexes = 0`
}

function isUnreadable(error: unknown): error is ClickHouseError {
  return error instanceof ClickHouseError && !isTransient(error) && !isTableGone(error)
}

/** A restore renames and drops tables at any time. What is in them is not damaged. */
function isTableGone(error: unknown): boolean {
  return error instanceof ClickHouseError && (error.code === UNKNOWN_TABLE || error.code === TABLE_IS_DROPPED)
}

function describeLost(table: string, rows: number | null): string {
  if (rows === 0) return 'Its rows are in other parts or in the log; nothing is lost.'
  const unless = table === 'steps' || table === 'logs' ? ', unless the log still has them' : ''
  return `${rows === null ? 'Its rows are' : `Its ${rows} ${rows === 1 ? 'row is' : 'rows are'}`} lost${unless}.`
}

function warningFor(table: string, lost: number | null): string {
  if (lost === 0) return ''
  if (table === 'sessions' || table.startsWith('word')) return ' They are computed from the steps again.'
  return table === 'keys' ? ' Look at your keys: one that was revoked may work again.' : ''
}

function shorten(message: string): string {
  return message.replace(/^Code: \d+\. DB::Exception: /, '').slice(0, 200)
}

/** The store may be on another file system. */
async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error
    await cp(from, to, { recursive: true })
    await rm(from, { recursive: true })
  })
}
