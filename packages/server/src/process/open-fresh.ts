import { KnownError } from '../errors/known-error.ts'
import { FreshSessions } from '../sessions/fresh-sessions.ts'
import type { Store } from '../store/connect.ts'
import { asStoreError } from '../store/store-error.ts'

/** What an earlier process left in the log has to be in the store when its sessions are read. */
export async function readKnown(options: {
  fresh: FreshSessions
  store: Store
  drain: () => Promise<void>
  report: (line: string) => void
}): Promise<void> {
  const { fresh, store, drain, report } = options
  if (store.engine === undefined) return
  try {
    await drain()
    await fresh.readKnown(store)
  } catch (error) {
    if (asStoreError(error as Error) === undefined && !(error instanceof KnownError))
      report(
        `Could not read which sessions are stored, so new ones take longer to list: ${(error as Error).message}`,
      )
  }
}
