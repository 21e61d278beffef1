import { randomUUID } from 'node:crypto'
import { Agent, request, type AgentOptions, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import {
  ClickHouseError,
  parseError,
  type ClickHouseClient,
  type ClickHouseSettings,
  type QueryParams,
} from '@clickhouse/client'
import { INFILE_HEADER } from './serve-clickhouse.ts'

/** A statement and what goes with it, as `@clickhouse/client` takes it. */
type Statement = Pick<QueryParams, 'query' | 'query_params' | 'abort_signal'> & {
  clickhouse_settings?: ClickHouseSettings
}

type InsertedValues = { table: string; values: readonly unknown[]; format: string }

/** The part of a result that the server uses. */
type Result = {
  text(): Promise<string>
  json(): Promise<unknown[]>
  /** For a large result: its rows are parsed one by one. */
  stream(): Iterable<{ json(): unknown }[]>
}

const TIMEOUT_MS = 120_000

/**
 * The embedded engine behind the interface of `@clickhouse/client`, as far as the server uses it. That client waits for a
 * timer before each statement, in case its socket was closed by a proxy, and reads rows through several streams: 2 ms a
 * statement, as long as the engine needs for a short one.
 */
export class EngineClient {
  readonly #socketPath: string
  readonly #database: string
  readonly #settings: ClickHouseSettings
  readonly #agent: Agent

  constructor(options: { socketPath: string; database: string; settings: ClickHouseSettings }) {
    this.#socketPath = options.socketPath
    this.#database = options.database
    this.#settings = options.settings
    const agent: AgentOptions & { socketPath: string } = {
      socketPath: options.socketPath,
      keepAlive: true,
      maxSockets: 32,
    }
    this.#agent = new Agent(agent)
  }

  /** The rest of the code asks any store through the same type. */
  asClickHouseClient(): ClickHouseClient {
    return this as unknown as ClickHouseClient
  }

  async query({ format = 'JSON', ...statement }: Statement & { format?: string }): Promise<Result> {
    const bytes = await this.#run({ ...statement, query: `${statement.query}\nFORMAT ${format}` })
    return {
      text: async () => bytes.toString(),
      json: async () => (format === 'JSONEachRow' ? parseRows(bytes) : JSON.parse(bytes.toString())),
      stream: () => linesOf(bytes),
    }
  }

  async command(statement: Statement): Promise<void> {
    await this.#run(statement)
  }

  /** Runs an `INSERT … FORMAT name` with the contents of a file. */
  async insertFile(query: string, path: string, settings: ClickHouseSettings): Promise<void> {
    await this.#run({ query, clickhouse_settings: settings }, { [INFILE_HEADER]: path })
  }

  async insert({ table, values, format }: InsertedValues): Promise<void> {
    if (values.length === 0) return
    const rows = values.map((value) => JSON.stringify(value)).join('\n')
    await this.#run(
      { query: `INSERT INTO ${table} FORMAT ${format}` },
      {},
      Readable.from([Buffer.from(rows)]),
    )
  }

  async exec({ values, ...statement }: Statement & { values?: Readable }): Promise<{ stream: Readable }> {
    return { stream: Readable.from([await this.#run(statement, {}, values)]) }
  }

  async close(): Promise<void> {
    this.#agent.destroy()
  }

  /** With `data`, the statement is an INSERT of it. */
  async #run(statement: Statement, headers: Record<string, string> = {}, data?: Readable): Promise<Buffer> {
    const parameters = this.#parametersOf(statement)
    if (data !== undefined) parameters.set('query', statement.query)
    const post = request({
      socketPath: this.#socketPath,
      agent: this.#agent,
      method: 'POST',
      path: `/?${parameters.toString()}`,
      headers,
      timeout: Math.max(TIMEOUT_MS, (statement.clickhouse_settings?.max_execution_time ?? 0) * 1_000),
      ...(statement.abort_signal !== undefined && { signal: statement.abort_signal }),
    })
    const answered = answerOf(post)
    if (data === undefined) post.end(statement.query)
    else {
      data.on('error', (error) => post.destroy(error))
      data.pipe(post)
    }
    const { status, bytes } = await answered
    if (status !== 200) throw asError(bytes.toString())
    return bytes
  }

  #parametersOf({ query_params = {}, clickhouse_settings }: Statement): URLSearchParams {
    const parameters = new URLSearchParams({ query_id: randomUUID(), database: this.#database })
    for (const [name, value] of Object.entries(query_params))
      parameters.set(`param_${name}`, formatParameter(value))
    for (const [name, value] of Object.entries({ ...this.#settings, ...clickhouse_settings }))
      if (value !== undefined) parameters.set(name, String(value))
    return parameters
  }
}

function answerOf(post: ReturnType<typeof request>): Promise<{ status: number; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    post.on('error', (error) =>
      reject(
        error.name === 'AbortError' ? new Error('The user aborted a request.', { cause: error }) : error,
      ),
    )
    post.on('timeout', () => post.destroy(new Error('Timeout error.')))
    post.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
        }),
      )
    })
  })
}

/** JSON escapes line breaks, so every one of them ends a row. */
function parseRows(bytes: Buffer): unknown[] {
  return JSON.parse(`[${bytes.toString().trimEnd().replaceAll('\n', ',')}]`) as unknown[]
}

function* linesOf(bytes: Buffer): Generator<{ json(): unknown }[], void> {
  for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
    const line = bytes.toString('utf8', start, end)
    yield [{ json: () => JSON.parse(line) as unknown }]
  }
}

function asError(message: string): Error {
  const error = parseError(message)
  return error instanceof ClickHouseError ? error : new Error(message)
}

/** Writes a value as ClickHouse reads the `param_…` of a statement: tab-separated text, and SQL inside of lists. */
function formatParameter(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  return typeof value === 'string' ? escape(value) : format(value)
}

function format(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'string') return `'${escape(value)}'`
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(format).join(',')}]`
  throw new TypeError(`a parameter can't be ${typeof value === 'object' ? 'an object' : typeof value}`)
}

const escapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  "'": "\\'",
  '\\': '\\\\',
}

function escape(text: string): string {
  return /[\t\n\r'\\]/.test(text) ? text.replaceAll(/[\t\n\r'\\]/g, (found) => escapes[found]!) : text
}
