import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  asOneSession,
  isScoreOnly,
  logsToSteps,
  priceStep,
  type LogOutline,
  type Pricer,
  type StepOutline,
} from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { joinOutline } from '../store/steps-table.ts'
import type { FreshSession, FreshSessions } from './fresh-sessions.ts'
import { readJoinedOutlines, type CopiesOptions } from './step-copies.ts'
import type { StoredLogs } from './stored-logs.ts'

/** Everything a refresh needs to know about one session. */
export type SessionParts = {
  outlines: StepOutline[]
  logs: LogOutline[]
  /** Spans that only bring a score: no steps, and no sign of life. */
  scores: StepOutline[]
  receivedMs: number[]
  /** The buckets that its row may be in; undefined if they have to be looked up. */
  buckets: readonly number[] | undefined
  /** True when the outlines come from logs. */
  isBuilt: boolean
  /** The traces that it consists of. */
  traceIds: readonly string[]
}

type PartsOptions = CopiesOptions & {
  store: Store
  logs: StoredLogs
  fresh: FreshSessions
  pricerOf: (project: string) => { pricer: Pricer }
}

/** Sessions that are parsed before senders get their turn. */
const TURN_SESSIONS = 10

/** Reads sessions: those that are in memory from there, if these are the sessions of a segment. */
export async function readParts(
  options: PartsOptions,
  { project, ids, segment }: { project: string; ids: readonly string[]; segment: bigint | undefined },
): Promise<Map<string, SessionParts>> {
  const fresh =
    segment === undefined ? new Map<string, FreshSession>() : await findFresh(options.fresh, project, ids)
  const others = fresh.size === 0 ? ids : ids.filter((id) => !fresh.has(id))
  const [steps, logs, newIds] = await Promise.all([
    others.length === 0 ? [] : readJoinedOutlines(options, project, others),
    options.logs.readOutlines(project, ids),
    findNew(options.store, { project, ids: others, segment }),
  ])
  const sessions = new Map<string, SessionParts>()
  const partsOf = (id: string) => {
    let parts = sessions.get(id)
    if (parts === undefined) {
      parts = {
        outlines: [],
        logs: [],
        scores: [],
        receivedMs: [],
        buckets: newIds.has(id) ? [] : fresh.get(id)?.buckets,
        isBuilt: false,
        traceIds: [id],
      }
      sessions.set(id, parts)
    }
    return parts
  }
  const addStep = (outline: StepOutline, receivedMs: number) => {
    const parts = partsOf(outline.sessionId)
    if (isScoreOnly(outline)) return void parts.scores.push(outline)
    parts.outlines.push(outline)
    parts.receivedMs.push(receivedMs)
  }
  for (const { rows } of fresh.values())
    for (const row of rows) addStep(joinOutline(row, row.packed), row.received_ms)
  for (const { outline, receivedMs } of steps) addStep(outline, receivedMs)
  for (const { outline, receivedMs } of logs) {
    const parts = partsOf(outline.sessionId)
    parts.logs.push(outline)
    if (outline.adds?.scores === undefined) parts.receivedMs.push(receivedMs)
    // Its row may have been written when only logs of it had arrived.
    if (!fresh.has(outline.sessionId)) parts.buckets = undefined
  }
  await buildFromLogs(options, project, sessions)
  return sessions
}

/** Some instrumentations send only log records. Their steps are built from those. */
async function buildFromLogs(
  { logs: stored, pricerOf }: PartsOptions,
  project: string,
  sessions: ReadonlyMap<string, SessionParts>,
): Promise<void> {
  const ids = [...sessions].flatMap(([id, parts]) => (parts.outlines.length === 0 ? [id] : []))
  if (ids.length === 0) return
  const logs = await stored.readRecords(project, ids)
  for (const id of ids) {
    const drafts = logs.flatMap((log) => (log.sessionId === id ? [log.draft] : []))
    sessions.get(id)!.isBuilt = true
    sessions.get(id)!.outlines = logsToSteps(drafts).map((draft) =>
      priceStep(draft.outline, pricerOf(project).pricer),
    )
  }
}

async function findFresh(
  fresh: FreshSessions,
  project: string,
  ids: readonly string[],
): Promise<Map<string, FreshSession>> {
  const found = new Map<string, FreshSession>()
  for (const [index, id] of ids.entries()) {
    if (index > 0 && index % TURN_SESSIONS === 0) await nextTurn()
    const session = fresh.find(project, id)
    if (session !== undefined) found.set(id, session)
  }
  return found
}

/** Finds the sessions whose rows, including replaced ones, all come from this segment. */
async function findNew(
  { client }: Store,
  { project, ids, segment }: { project: string; ids: readonly string[]; segment: bigint | undefined },
): Promise<ReadonlySet<string>> {
  if (segment === undefined || ids.length === 0) return new Set()
  const result = await client.query({
    query: `SELECT session_id FROM steps WHERE project = {project:String} AND session_id IN {ids:Array(String)}
      GROUP BY session_id HAVING min(segment) = {segment:UInt64} AND max(segment) = {segment:UInt64}`,
    query_params: { project, ids, segment },
    format: 'JSONEachRow',
  })
  return new Set((await result.json<{ session_id: string }>()).map((row) => row.session_id))
}

/** Puts together the parts of a session that consists of several traces. */
export function asOne(
  id: string,
  traceIds: readonly string[],
  parts: ReadonlyMap<string, SessionParts>,
): SessionParts {
  const traces = traceIds.map((traceId) => parts.get(traceId)!)
  return {
    outlines: asOneSession(
      id,
      traces.flatMap(({ outlines }) => outlines),
    ),
    logs: traces.flatMap(({ logs }) => logs),
    scores: traces.flatMap(({ scores }) => scores),
    receivedMs: traces.flatMap(({ receivedMs }) => receivedMs),
    buckets: undefined,
    isBuilt: traces.every(({ isBuilt }) => isBuilt),
    traceIds,
  }
}
