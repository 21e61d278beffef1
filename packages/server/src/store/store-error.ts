import { ClickHouseError } from '@clickhouse/client'
import { diskFull, isDiskFull } from '../errors/disk-full.ts'
import { KnownError } from '../errors/known-error.ts'
import { isDamage } from './engine/is-damage.ts'

/** Answers of the store that say "not now": it has no time or memory for this. */
const passingCodes = new Set([
  '159', // TIMEOUT_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '241', // MEMORY_LIMIT_EXCEEDED
  '394', // QUERY_WAS_CANCELLED
])
const NOT_ENOUGH_SPACE = '243'
const lostConnections = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** A store that went away or has no room while it was asked, as an error to try again on; undefined for all else. */
export function asStoreError(error: Error): KnownError | undefined {
  if (error instanceof ClickHouseError) {
    if (isDamage(error.message, error.code)) {
      return new KnownError(
        'STORE_UNAVAILABLE',
        'A file of the store is damaged; the store goes back to an older copy of it. Try again in a moment.',
        { cause: error },
      )
    }
    if (error.code === NOT_ENOUGH_SPACE) return diskFull(error)
    if (!passingCodes.has(error.code)) return undefined
    return new KnownError(
      'STORE_UNAVAILABLE',
      `The store could not answer (${error.type}). Try again, or ask for less.`,
      { cause: error },
    )
  }
  if (isDiskFull(error)) return diskFull(error)
  if (!isConnectionLost(error)) return undefined
  return new KnownError(
    'STORE_UNAVAILABLE',
    'The store does not answer at the moment; what is sent is kept in the log meanwhile. Try again.',
    { cause: error },
  )
}

/** Why a server can't start on its store, with what to do about it where we know. */
export function asStartError(error: unknown, clickhouseUrl: string | undefined): unknown {
  if (!(error instanceof Error) || error instanceof KnownError) return error
  const known = asStoreError(error)
  if (known?.code === 'DISK_FULL' || clickhouseUrl === undefined) return known ?? error
  // Without what a person may have put before the host: a password has no place in a log.
  const host = URL.parse(clickhouseUrl)?.host || 'the address that was given'
  const reason = error.message.trim().replace(/\.$/, '') || error.name
  return new KnownError(
    'STORE_UNAVAILABLE',
    `ClickHouse at ${host} can't be used: ${reason}. Check CLICKHOUSE_URL.`,
    { cause: error },
  )
}

function isConnectionLost(error: NodeJS.ErrnoException): boolean {
  // The client's own word when an answer takes too long.
  if (error.message === 'Timeout error.') return true
  // Between two lives of the embedded engine there is no socket; a missing file of another kind is no such case.
  if (error.code === 'ENOENT') return error.syscall === 'connect'
  return error.code !== undefined && lostConnections.has(error.code)
}
