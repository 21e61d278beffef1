import { NewestSessions } from './newest-sessions.ts'
import type { SessionRow } from './sessions-table.ts'

/** Tells what is kept in memory of `sessions` when this process changes that table. */
export class SessionChanges {
  /** Rises after each change. */
  revision = 0
  readonly newest = new NewestSessions()

  /** Rows were inserted. */
  written(rows: readonly SessionRow[]): void {
    this.revision += 1
    this.newest.write(rows)
  }

  /** Rows were deleted, or it is not known what happened to them. */
  changed(): void {
    this.revision += 1
    this.newest.forget()
  }
}
