import { countOf } from '@playhead/model'
import type { AuditLog } from '../access/audit.ts'
import type { Registry } from '../access/registry.ts'
import { KnownError } from '../errors/known-error.ts'
import type { UploadedObjects } from '../store/uploaded-objects.ts'
import type { Store } from '../store/connect.ts'
import { asStoreError } from '../store/store-error.ts'
import { deleteSessions } from './delete-sessions.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

type Stored = {
  store: Store
  registry: Registry
  objects: UploadedObjects
  gate: { audit: AuditLog }
  /** Of several servers on one store, one deletes sessions. */
  nodes: { isLeader(): boolean }
}
type RetentionOptions = Stored & {
  /** Flushes the log, which may hold old sessions too. */
  drain: () => Promise<void>
  report: (line: string) => void
  retryMs?: number
}

/**
 * Deletes expired sessions and uploaded objects now and every hour; retries sooner when the store is unavailable. Returns a
 * function that stops it.
 */
export function startRetention(options: RetentionOptions): () => void {
  const { registry, drain, report, retryMs = 60_000 } = options
  const trustedNow = createCautiousClock()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const run = async () => {
    let pauseMs = HOUR_MS
    try {
      if (registry.projects().some(({ retentionDays }) => retentionDays !== null)) await drain()
      await applyRetention(options, trustedNow())
    } catch (error) {
      pauseMs = retryMs
      if (!isStopped) report(describeFailure(error as Error))
    }
    if (!isStopped) timer = setTimeout(() => void run(), pauseMs).unref()
  }
  void run()
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** A store that is away for a moment is no failure: the next attempt deletes what is left. */
function describeFailure(error: Error): string {
  const isStoreAway = error instanceof KnownError || asStoreError(error) !== undefined
  return isStoreAway
    ? `Expired sessions are not deleted yet, because the store is not available. The next attempt is in a minute. (${error.message})`
    : `retention failed: ${error.message}`
}

/**
 * The time in whole milliseconds, except that a jump ahead counts only from the next call on: a clock that is wrong for a moment must not delete
 * sessions that nobody can bring back.
 */
export function createCautiousClock(
  nowMs: () => number = Date.now,
  elapsedMs: () => number = () => performance.now(),
): () => number {
  let last = { nowMs: nowMs(), elapsedMs: elapsedMs() }
  return () => {
    const current = { nowMs: nowMs(), elapsedMs: elapsedMs() }
    const expectedMs = last.nowMs + current.elapsedMs - last.elapsedMs
    last = current
    return Math.floor(Math.min(current.nowMs, expectedMs))
  }
}

/** Every server deletes its own uploaded objects. The leader deletes the sessions of all. */
export async function applyRetention(options: Stored, nowMs: number): Promise<void> {
  const { registry, objects, nodes } = options
  for (const { id, retentionDays } of registry.projects()) {
    if (retentionDays === null) continue
    const beforeMs = nowMs - retentionDays * DAY_MS
    if (nodes.isLeader()) await deleteExpired(options, { id, retentionDays, beforeMs })
    await objects.removeOlder(id, beforeMs)
  }
}

async function deleteExpired(
  { store, gate }: Stored,
  { id, retentionDays, beforeMs }: { id: string; retentionDays: number; beforeMs: number },
): Promise<void> {
  const params = { project: id, before: beforeMs }
  const idsSql = `SELECT session_id FROM sessions FINAL WHERE project = {project:String} AND started_at < fromUnixTimestamp64Milli({before:Int64})`
  const result = await store.client.query({
    query: `SELECT count() AS old FROM (${idsSql})`,
    query_params: params,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ old: number }>()
  if (row === undefined || row.old === 0) return
  await deleteSessions(store, id, { idsSql, params })
  await gate.audit.record({
    action: 'sessions.deleted',
    project: id,
    caller: { kind: 'server', id: '', name: 'retention', address: '' },
    detail: `${countOf(row.old, 'session')} older than ${countOf(retentionDays, 'day')}`,
  })
}
