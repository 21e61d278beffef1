import {
  asOneSession,
  collectScores,
  correctLogTimes,
  isScoreOnly,
  logsToSteps,
  resolveSteps,
  type Pricer,
  type ResolvedStep,
  type Score,
  type SessionLog,
  type StepContent,
  type TagEdits,
} from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { joinOutline } from '../store/steps-table.ts'
import type { DuplicateCalls, KnownDuplicates } from './duplicate-calls.ts'
import type { FreshRow } from './fresh-rows.ts'
import type { FreshSessions } from './fresh-sessions.ts'
import type { JoinedTraces } from './joined-traces.ts'
import type { SessionTags } from './session-tags.ts'
import { readJoinedOutlines, type DeriveCopies, type JoinedOutline } from './step-copies.ts'
import type { ReceivedLog, StoredLogs } from './stored-logs.ts'
import { lastHeardAt, type OutlinesAndCopies, type StoredOutline } from './stored-steps.ts'

/** A session with its steps resolved, without payloads. */
export type ResolvedSession = {
  id: string
  /** The traces that it consists of. */
  traceIds: readonly string[]
  steps: ResolvedStep[]
  /** The contents of steps that were built from logs and have no row of their own. */
  builtContents: ReadonlyMap<string, StepContent>
  logs: SessionLog[]
  /** The row that counts of each step. */
  rows: ReadonlyMap<string, StoredOutline>
  /** Steps that were joined from several copies. */
  joinedSteps: ReadonlySet<string>
  lastHeardAtMs: number
  tagEdits: TagEdits | undefined
  /** Newest first. */
  scores: Score[]
}

export type ResolvingOptions = {
  store: Store
  logs: StoredLogs
  duplicates: DuplicateCalls
  tags: SessionTags
  derive: DeriveCopies
  joined: JoinedTraces
  fresh: FreshSessions
}

/**
 * Reads and resolves sessions together: a statement costs about as much for many sessions as for one. `outlines` has all of theirs,
 * if they were read already.
 */
export async function readResolved(
  options: ResolvingOptions,
  project: string,
  {
    ids,
    pricer,
    outlines,
  }: { ids: readonly string[]; pricer: Pricer; outlines?: OutlinesAndCopies | undefined },
): Promise<Map<string, ResolvedSession>> {
  const traces = await options.joined.tracesOf(project, ids)
  const traceIds = [...traces.values()].flat()
  const [rows, records, known, edits] = await Promise.all([
    readJoinedOutlines(
      options,
      project,
      traceIds,
      outlines ?? rememberedOutlines(options, project, traceIds),
    ),
    options.logs.readRecords(project, traceIds),
    options.duplicates.readKnown(project, traces),
    options.tags.readEdits(project, traces),
  ])
  const rowsOf = Map.groupBy(rows, ({ outline }) => outline.sessionId)
  const recordsOf = Map.groupBy(records, ({ sessionId }) => sessionId)
  const resolved = new Map<string, ResolvedSession>()
  for (const [id, own] of traces) {
    const session = resolve(id, {
      traceIds: own,
      rows: own.flatMap((traceId) => rowsOf.get(traceId) ?? []),
      records: own.flatMap((traceId) => recordsOf.get(traceId) ?? []),
      duplicates: known.get(id),
      tagEdits: edits.get(id),
      pricer,
    })
    if (session !== undefined) resolved.set(id, session)
  }
  return resolved
}

/** The outlines of sessions that began lately; undefined if one of them is not in memory. */
export function rememberedOutlines(
  { fresh }: Pick<ResolvingOptions, 'fresh'>,
  project: string,
  traceIds: readonly string[],
): OutlinesAndCopies | undefined {
  const rows: FreshRow[] = []
  for (const id of traceIds) {
    const session = fresh.find(project, id)
    if (session === undefined) return undefined
    rows.push(...session.rows)
  }
  rows.sort((left, right) => (left.step_id < right.step_id ? -1 : 1))
  const outlines = rows.map((row) => ({
    outline: joinOutline(row, row.packed),
    receivedMs: row.received_ms,
    version: row.version,
    arrival: row.arrival,
  }))
  return { outlines, copied: [] }
}

type SessionParts = {
  traceIds: readonly string[]
  rows: readonly JoinedOutline[]
  records: readonly ReceivedLog[]
  duplicates: KnownDuplicates | undefined
  tagEdits: TagEdits | undefined
  pricer: Pricer
}

function resolve(
  id: string,
  { traceIds, rows: found, records, duplicates, tagEdits, pricer }: SessionParts,
): ResolvedSession | undefined {
  const rows = found.filter(({ outline }) => !isScoreOnly(outline))
  const onlyScores = found.map(({ outline }) => outline).filter(isScoreOnly)
  const built = rows.length === 0 ? logsToSteps(records.map(({ draft }) => draft)) : []
  const arrived = rows.length === 0 ? built.map((draft) => draft.outline) : rows.map(({ outline }) => outline)
  if (arrived.length === 0) return undefined
  const outlines = traceIds.length === 1 ? arrived : asOneSession(id, arrived)
  const logs = correctLogTimes(
    records.map(({ draft }) => ({ ...draft.outline, content: draft.content })),
    outlines,
  )
  return {
    id,
    traceIds,
    steps: resolveSteps(outlines, logs, { ...duplicates, pricer }),
    builtContents: new Map(built.map((draft) => [draft.outline.id, draft.content])),
    logs,
    rows: new Map(rows.map((row) => [row.outline.id, row])),
    joinedSteps: new Set(rows.flatMap(({ outline, isJoined }) => (isJoined ? [outline.id] : []))),
    lastHeardAtMs: lastHeardAt(heardAt(rows, records), Date.now()),
    tagEdits,
    scores: collectScores([...outlines, ...onlyScores], logs),
  }
}

/** A score may come days later: it is no sign that the session goes on. */
function heardAt(rows: readonly StoredOutline[], records: readonly ReceivedLog[]): number[] {
  const others = records.filter(({ draft }) => draft.outline.adds?.scores === undefined)
  return [...rows, ...others].map(({ receivedMs }) => receivedMs)
}
