import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { timingSafeEqual, randomUUID } from 'node:crypto'
import { isDiskFull } from '../../errors/disk-full.ts'
import { noSpaceLeft } from './checked-writes.ts'
import type { Engine } from './open-engine.ts'
import { isDamage } from './is-damage.ts'

/** Names a local file that an INSERT reads instead of the request body. Log segments are passed this way. */
export const INFILE_HEADER = 'x-playhead-infile'

// The parameters of ClickHouse's HTTP interface that are not settings.
const ownParameters = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'role',
  'user',
  'password',
])
// The only client runs on the same machine, so compression would only cost time.
const ignoredSettings = new Set([
  'enable_http_compression',
  'wait_end_of_query',
  'send_progress_in_http_headers',
])

type ServeOptions = {
  password?: string | undefined
  /** Called when a query finds a damaged file. */
  onDamage?: (message: string) => void
}

/** Serves the part of ClickHouse's HTTP interface that `@clickhouse/client` uses, with the embedded engine. */
export async function serveClickHouse(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
  { password, onDamage }: ServeOptions,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://engine')
  if (url.pathname === '/ping') return void response.end('Ok.\n')
  if (url.pathname === '/alive') return serveHeartbeat(engine, response)
  if (password !== undefined && !isAllowed(request, password)) {
    return sendError(
      response,
      'Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED)',
    )
  }
  const queryId = url.searchParams.get('query_id') ?? randomUUID()
  let isFinished = false
  response.on('close', () => {
    if (!isFinished) void engine.kill(queryId).catch(() => undefined)
  })
  try {
    const { statement, cleanUp } = await readStatement(engine, request, url)
    try {
      await waitForTurn()
      if (response.destroyed) return
      const { bytes } = await engine.run(
        `/* ${queryId.replaceAll(/[^\w-]/g, '')} */ ${statement}`,
        preparation(url),
      )
      isFinished = true
      response.setHeader('x-clickhouse-query-id', queryId)
      response.end(bytes)
    } finally {
      isFinished = true
      endTurn()
      await cleanUp()
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (isDamage(message)) onDamage?.(message)
    sendError(response, message)
  }
}

// Fewer than libuv's threads, so that one is always free for the heartbeat and for file writes.
const MAX_STATEMENTS = 16
let runningStatements = 0
const waitingStatements: (() => void)[] = []

async function waitForTurn(): Promise<void> {
  if (runningStatements < MAX_STATEMENTS) runningStatements += 1
  else await new Promise<void>((resolve) => waitingStatements.push(resolve))
}

function endTurn(): void {
  const next = waitingStatements.shift()
  if (next === undefined) runningStatements -= 1
  else next()
}

async function serveHeartbeat(engine: Engine, response: ServerResponse): Promise<void> {
  await engine.run('SELECT 1', []).then(
    () => response.end('Ok.\n'),
    (error: Error) => sendError(response, error.message),
  )
}

/** The statements that prepare a session: its database, parameters and settings. */
function preparation(url: URL): string[] {
  const assignments: string[] = []
  for (const [name, value] of url.searchParams) {
    if (ownParameters.has(name) || ignoredSettings.has(name)) continue
    if (!/^\w+$/.test(name))
      throw new Error(`Code: 36. DB::Exception: Bad setting name ${name}. (BAD_ARGUMENTS)`)
    // Parameters are set instead of bound: statements with bound parameters run one at a time in the whole process.
    assignments.push(`${name} = ${quoteSql(value)}`)
  }
  const database = url.searchParams.get('database')
  return [
    ...(database === null ? [] : [`USE ${quoteIdentifier(database)}`]),
    ...(assignments.length === 0 ? [] : [`SET ${assignments.join(', ')}`]),
  ]
}

async function readStatement(
  engine: Engine,
  request: IncomingMessage,
  url: URL,
): Promise<{ statement: string; cleanUp: () => Promise<void> }> {
  const noCleanUp = async () => undefined
  const query = url.searchParams.get('query')
  const file = request.headers[INFILE_HEADER]
  if (query === null) {
    const statement = await readText(request)
    if (typeof file === 'string') return { statement: fromFile(statement, file), cleanUp: noCleanUp }
    return { statement, cleanUp: noCleanUp }
  }
  // The data of an INSERT never becomes part of the SQL text: a blank line would end the data, and the rest would run as SQL.
  const path = join(engine.inbox, randomUUID())
  const cleanUp = () => rm(path, { force: true })
  try {
    await pipeline(request, createWriteStream(path))
    return { statement: fromFile(query, path), cleanUp }
  } catch (error) {
    await cleanUp()
    throw isDiskFull(error) ? noSpaceLeft() : error
  }
}

/** Makes `INSERT INTO t (…) FORMAT F` read a file. */
function fromFile(query: string, path: string): string {
  const match = /^([\s\S]*?)\sFORMAT\s+(\w+)\s*;?\s*$/i.exec(query)
  if (match === null)
    throw new Error('Code: 62. DB::Exception: An INSERT with data must end in FORMAT name. (SYNTAX_ERROR)')
  return `${match[1]} FROM INFILE ${quoteSql(path)} FORMAT ${match[2]}`
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks).toString()))
    request.on('error', reject)
  })
}

function isAllowed(request: IncomingMessage, password: string): boolean {
  const given = request.headers['x-clickhouse-key'] ?? basicPassword(request.headers.authorization)
  if (typeof given !== 'string') return false
  const [left, right] = [Buffer.from(given), Buffer.from(password)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function basicPassword(authorization: string | undefined): string | undefined {
  if (authorization?.startsWith('Basic ') !== true) return undefined
  const pair = Buffer.from(authorization.slice(6), 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}

function sendError(response: ServerResponse, message: string): void {
  if (response.headersSent || response.destroyed) return
  const code = /Code: (\d+)/.exec(message)?.[1]
  response.statusCode = code === '516' ? 403 : 500
  if (code !== undefined) response.setHeader('x-clickhouse-exception-code', code)
  response.end(message)
}

function quoteIdentifier(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}

/** A ClickHouse string literal. Only for what can't be a bound parameter: paths, settings, and parameters themselves. */
function quoteSql(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`
}
