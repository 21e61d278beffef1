import { ClickHouseError } from '@clickhouse/client'
import { KnownError } from '../http/known-error.ts'
import { isDamage } from './engine/is-damage.ts'

/** Answers of the store that say "not now": it has no time, memory or room for this. */
const passingCodes = new Set([
  '159', // TIMEOUT_EXCEEDED
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '241', // MEMORY_LIMIT_EXCEEDED
  '243', // NOT_ENOUGH_SPACE
  '394', // QUERY_WAS_CANCELLED
])
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
    if (!passingCodes.has(error.code)) return undefined
    return new KnownError(
      'STORE_UNAVAILABLE',
      `The store could not answer (${error.type}). Try again, or ask for less.`,
      { cause: error },
    )
  }
  if (!isConnectionLost(error)) return undefined
  return new KnownError(
    'STORE_UNAVAILABLE',
    'The store does not answer at the moment; what is sent is kept in the log meanwhile. Try again.',
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
