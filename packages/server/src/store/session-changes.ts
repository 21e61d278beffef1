import { NewestSessions } from './newest-sessions.ts'
import type { ListedSession } from './sessions-table.ts'

/** Tells what is kept in memory of `sessions` when this process changes that table. */
export class SessionChanges {
  /** Rises after each change. */
  revision = 0
  readonly newest = new NewestSessions()

  /** Rows are about to be inserted, and will be, whatever happens: what they are computed from is on disk. */
  listed(rows: readonly ListedSession[]): void {
    this.revision += 1
    this.newest.list(rows)
  }

  /** Rows were inserted. */
  written(rows: readonly ListedSession[]): void {
    this.revision += 1
    this.newest.write(rows)
  }

  /** All rows of these sessions were inserted. If others were listed before, what is in memory is not right. */
  settled(project: string, ids: readonly string[]): void {
    if (this.newest.settle(project, ids)) this.changed()
  }

  /** Rows were deleted, or it is not known what happened to them. */
  changed(): void {
    this.revision += 1
    this.newest.forget()
  }
}
