import { text } from 'node:stream/consumers'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { KnownError } from '../errors/known-error.ts'
import { MAX_SQL_LENGTH, MAX_SQL_ROWS } from '../api/schemas/requests.ts'
import type { Store } from '../store/connect.ts'
import { checkStatement } from './check-statement.ts'
import { writeTables } from './query-tables.ts'

const MAX_SECONDS = 10
const MAX_AT_ONCE = 4

export type QueryResult = {
  columns: { name: string; type: string }[]
  rows: unknown[][]
  isTruncated: boolean
  elapsedMs: number
}

/**
 * Read-only SQL on the tables of one project. Four guards, each of which stands alone: the engine runs the statement as
 * `readonly`, in a database without tables, within limits of time, rows and memory; and its syntax tree is checked first.
 */
export class SqlQueries {
  readonly #store: Store
  #open: Promise<{ client: ClickHouseClient; database: string }> | undefined
  #running = 0

  constructor(store: Store) {
    this.#store = store
  }

  async run(project: string, sql: string, limit: number): Promise<QueryResult> {
    if (this.#running >= MAX_AT_ONCE)
      throw new KnownError('SERVER_BUSY', `${MAX_AT_ONCE} queries are running. Try again in a moment.`)
    this.#running += 1
    try {
      return await this.#run(project, sql, limit)
    } catch (error) {
      throw explain(error)
    } finally {
      this.#running -= 1
    }
  }

  async close(): Promise<void> {
    await (await this.#open)?.client.close()
  }

  async #run(project: string, sql: string, limit: number): Promise<QueryResult> {
    this.#open ??= this.#connect()
    const { client, database } = await this.#open
    const statement = await this.#parse(client, sql)
    const startedMs = performance.now()
    const result = await client.query({
      // The limit of the outer query leaves the order of the inner one as it is.
      query: `${writeTables(database)} SELECT * FROM (${statement}) LIMIT {rows:UInt32}`,
      query_params: { project, nowMs: Date.now(), rows: limit + 1 },
      clickhouse_settings: limits,
      format: 'JSONCompact',
    })
    const { meta = [], data } = await result.json<unknown[]>()
    return {
      columns: meta,
      rows: data.slice(0, limit),
      isTruncated: data.length > limit,
      elapsedMs: Math.round(performance.now() - startedMs),
    }
  }

  /** The statement as the engine writes it. What is checked is what runs. */
  async #parse(client: ClickHouseClient, sql: string): Promise<string> {
    // The text is a value here: the engine parses it, and runs nothing of it.
    const parsed = await client.query({
      query: 'SELECT formatQuerySingleLine({sql:String}) AS sql',
      query_params: { sql },
      clickhouse_settings: limits,
      format: 'JSONEachRow',
    })
    const [row] = await parsed.json<{ sql: string }>()
    const statement = row?.sql ?? ''
    if (!/^\s*\(?\s*(?:SELECT|WITH)\b/i.test(statement))
      throw new KnownError('SQL_REFUSED', 'A query begins with SELECT or WITH.')
    // Not `query`, which adds a FORMAT: it would become part of the statement.
    const { stream } = await client.exec({ query: `EXPLAIN AST ${statement}`, clickhouse_settings: limits })
    checkStatement(statement, (await text(stream)).trimEnd().split('\n'))
    return statement
  }

  async #connect(): Promise<{ client: ClickHouseClient; database: string }> {
    const { client, cluster } = this.#store
    const result = await client.query({ query: 'SELECT currentDatabase() AS name', format: 'JSONEachRow' })
    const [{ name } = { name: 'playhead' }] = await result.json<{ name: string }>()
    const empty = `${name}_sql`
    const onCluster = cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`
    await client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${empty}\`${onCluster}` })
    return { client: this.#store.openDatabase(empty), database: `\`${name}\`` }
  }
}

export const limits: ClickHouseSettings = {
  max_execution_time: MAX_SECONDS,
  timeout_overflow_mode: 'throw',
  max_result_rows: String(MAX_SQL_ROWS + 1),
  max_result_bytes: String(8 * 1024 ** 2),
  result_overflow_mode: 'throw',
  max_memory_usage: String(700 * 1024 ** 2),
  max_rows_to_read: '200000000',
  max_bytes_to_read: String(20 * 1024 ** 3),
  max_ast_elements: '3000',
  max_ast_depth: '200',
  max_query_size: String(MAX_SQL_LENGTH * 4),
  max_subquery_depth: '20',
  max_threads: 2,
  allow_ddl: 0,
  allow_introspection_functions: 0,
  query_plan_remove_redundant_sorting: 0,
  // Last: settings can't be changed once it is set.
  readonly: '1',
}

/** What the engine says about a statement, without its code and without our part of the query. */
function explain(error: unknown): unknown {
  if (error instanceof KnownError || !(error instanceof Error)) return error
  const { code, type } = error as { code?: string; type?: string }
  if (type === undefined && !/^\d+$/.test(code ?? '')) return error
  if (type === 'TIMEOUT_EXCEEDED' || code === '159')
    return new KnownError(
      'SQL_REFUSED',
      `The query took longer than ${MAX_SECONDS} seconds. Add a filter on started_at.`,
    )
  if (type === 'MEMORY_LIMIT_EXCEEDED' || code === '241')
    return new KnownError('SQL_REFUSED', 'The query needs too much memory. Read less, or group by less.')
  const message = error.message
    .replace(/:? ?In scope [\s\S]*$/i, '')
    .replace(/ Maybe you meant[\s\S]*$/i, '')
    .replace(/\(version [^)]*\)\s*$/, '')
    .trim()
  return new KnownError('SQL_REFUSED', `The database refused the query: ${message.slice(0, 500)}`, {
    cause: error,
  })
}
