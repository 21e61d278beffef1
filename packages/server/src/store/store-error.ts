import { ClickHouseError } from '@clickhouse/client'
import { diskFull, isDiskFull } from '../errors/disk-full.ts'
import { KnownError } from '../errors/known-error.ts'
import { isDamage } from './engine/is-damage.ts'

/** Errors that may go away: the store has no time or memory at the moment. */
const transientCodes = new Set([
  '159', // TIMEOUT_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '241', // MEMORY_LIMIT_EXCEEDED
  '394', // QUERY_WAS_CANCELLED
])
const NOT_ENOUGH_SPACE = '243'
const lostConnections = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** Whether the same query may succeed later. */
export function isTransient(error: ClickHouseError): boolean {
  return transientCodes.has(error.code)
}

/** Turns a failure of the store that a retry may fix into a `KnownError`; undefined for any other error. */
export function asStoreError(error: Error): KnownError | undefined {
  if (error instanceof ClickHouseError) {
    if (isDamage(error.message, error.code)) {
      return new KnownError(
        'STORE_UNAVAILABLE',
        'A file of the store is damaged. The server is saving what is readable in it. Try again in a moment.',
        { cause: error },
      )
    }
    if (error.code === NOT_ENOUGH_SPACE) return diskFull(error)
    if (!isTransient(error)) return undefined
    return new KnownError(
      'STORE_UNAVAILABLE',
      `The store could not run the query (${error.type}). Try again, or narrow the query.`,
      { cause: error },
    )
  }
  if (isDiskFull(error)) return diskFull(error)
  if (isUnwritable(error)) {
    return new KnownError(
      'DATA_UNWRITABLE',
      `The server may not write to its data folder (${error.message}). Nothing was stored. Give its user write access to PLAYHEAD_DATA.`,
      { cause: error },
    )
  }
  if (!isConnectionLost(error)) return undefined
  return new KnownError(
    'STORE_UNAVAILABLE',
    'The store is not responding. Data that you send is safe in the log. Try again.',
    { cause: error },
  )
}

/** Explains why the server can't use its store, and says what to do about it where we know. */
export function asStartError(error: unknown, clickhouseUrl: string | undefined): unknown {
  if (!(error instanceof Error) || error instanceof KnownError) return error
  const known = asStoreError(error)
  if (known?.code === 'DISK_FULL' || clickhouseUrl === undefined) return known ?? error
  // Only the host: the URL may contain a password, which must not end up in a log.
  const host = URL.parse(clickhouseUrl)?.host || 'the given address'
  const reason = error.message.trim().replace(/\.$/, '') || error.name
  return new KnownError(
    'STORE_UNAVAILABLE',
    `Could not use ClickHouse at ${host}: ${reason}. Check CLICKHOUSE_URL.`,
    { cause: error },
  )
}

/** A file of ours can't be written, as opposed to a port that may not be used. */
function isUnwritable({ code, path }: NodeJS.ErrnoException): boolean {
  return path !== undefined && (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
}

function isConnectionLost(error: NodeJS.ErrnoException): boolean {
  // What the client throws when a response takes too long.
  if (error.message === 'Timeout error.') return true
  // While the embedded engine restarts, its socket does not exist. Any other missing file is a different problem.
  if (error.code === 'ENOENT') return error.syscall === 'connect'
  return error.code !== undefined && lostConnections.has(error.code)
}
