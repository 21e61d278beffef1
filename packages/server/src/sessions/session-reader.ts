import {
  asOneSession,
  contentReader,
  groupLogs,
  logsToSteps,
  ownsError,
  presentSession,
  presentStep,
  resolveSteps,
  correctLogTimes,
  spanToStep,
  sourcesOf,
  summarizeSession,
  type Pricer,
  type ResolvedStep,
  type Session,
  type SessionLog,
  type Span,
  type Step,
  type StepContent,
  type TagEdits,
} from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import type { DuplicateCalls } from './duplicate-calls.ts'
import type { JoinedTraces } from './joined-traces.ts'
import { PAYLOAD_SIZE, payloadSize, spanSelect, type SpanRow } from '../store/steps-table.ts'
import type { SessionTags } from './session-tags.ts'
import type { StoredLogs } from './stored-logs.ts'
import { findSessionId, sessionNotFound } from './find-session.ts'
import { joinCopies, readJoinedOutlines, type DeriveCopies } from './step-copies.ts'
import {
  lastHeardAt,
  readSpans,
  toStoredSpans,
  type RowFacts,
  type StoredOutline,
  type StoredSpan,
} from './stored-steps.ts'

/** A session with its steps resolved, without payloads. */
type ResolvedSession = {
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
}

export type ReaderOptions = {
  store: Store
  logs: StoredLogs
  duplicates: DuplicateCalls
  tags: SessionTags
  derive: DeriveCopies
  joined: JoinedTraces
  pricerOf: (project: string) => { pricer: Pricer }
  /** Flushes acknowledged rows, so that a session includes what was just sent. */
  catchUp: () => Promise<void>
}

/** The payloads that come with a session: about one screen of the replay page. */
const FIRST_SCREEN_STEPS = 60
const FIRST_SCREEN_BYTES = 512 * 1024
/** People open a long session and then look at many of its steps. */
const CACHED_SESSIONS = 8
const CACHE_MS = 30_000

type CachedSession = { open: Promise<ResolvedSession | undefined>; atMs: number; pricer: Pricer }

/** Reads sessions. The one place that turns stored rows back into a session. */
export class SessionReader {
  readonly #options: ReaderOptions
  readonly #cache = new Map<string, CachedSession>()

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Drops a session from the cache, because something changed. */
  invalidate(project: string, sessionId: string): void {
    this.#cache.delete(`${project}\0${sessionId}`)
  }

  /** Reads a session with its steps in start order, and the payloads of the first screen, of all steps, or of none. */
  async readSession(
    project: string,
    typedId: string,
    payloads: 'first-screen' | 'all' | 'none',
  ): Promise<Session> {
    const id = await this.#find(project, typedId)
    const [open, early] = await Promise.all([
      this.#open(project, id),
      payloads === 'none' ? [] : this.#readEarly(project, id, payloads),
    ])
    const wanted =
      payloads === 'none' ? [] : payloads === 'all' ? open.steps.map((step) => step.id) : firstScreen(open)
    const contents = await this.#readWanted(project, open, wanted, early)
    const { logs, lastHeardAtMs, tagEdits } = open
    return presentSession(open.steps, { contents, logs, nowMs: Date.now(), lastHeardAtMs, tagEdits })
  }

  /** Reads one step with its payload. */
  async readStep(project: string, typedId: string, stepId: string): Promise<Step> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const step = open.steps.find((candidate) => candidate.id === stepId)
    if (step === undefined) {
      throw new KnownError('STEP_NOT_FOUND', `Session ${open.id} has no step ${stepId.slice(0, 60)}.`)
    }
    const contents = await this.#readWanted(project, open, [stepId], [])
    const logs = groupLogs(open.logs, open.steps).get(stepId)
    const content = contentReader(open.steps, contents)(step)
    return presentStep(step, { startedAtMs: open.steps[0]!.startedAtMs }, content, logs)
  }

  /** Reads the spans as they arrived, for an export. */
  async readSpans(project: string, typedId: string): Promise<Span[]> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const rows = await readSpans(this.#options.store, project, { ids: open.traceIds })
    const joined = new Map(
      (await this.#joinCopies(project, open, [...open.joinedSteps])).map(({ span }) => [span.spanId, span]),
    )
    return rows
      .map(({ span }) => joined.get(span.spanId) ?? span)
      .sort((left, right) => Number(left.startNs - right.startNs))
  }

  async readSummary(project: string, typedId: string) {
    const { steps, lastHeardAtMs, tagEdits } = await this.#open(project, await this.#find(project, typedId))
    return summarizeSession(steps, { nowMs: Date.now(), lastHeardAtMs, tagEdits })
  }

  /** Resolves a typed id to the full one, after flushing what was acknowledged. */
  async #find(project: string, typedId: string): Promise<string> {
    await this.#options.catchUp()
    const { store, joined } = this.#options
    return findSessionId({ client: store.client, joined }, project, typedId)
  }

  async #open(project: string, id: string): Promise<ResolvedSession> {
    const open = await this.#readCached(project, id)
    if (open === undefined) throw sessionNotFound(id)
    return open
  }

  /**
   * Caches the promise, not its result, so that concurrent requests share one read, and `invalidate` also drops a read in
   * progress.
   */
  #readCached(project: string, id: string): Promise<ResolvedSession | undefined> {
    const key = `${project}\0${id}`
    const cached = this.#cache.get(key)
    const { pricer } = this.#options.pricerOf(project)
    if (cached?.pricer === pricer && performance.now() - cached.atMs < CACHE_MS) return cached.open
    const open = this.#read(project, id, pricer)
    const entry = { open, atMs: performance.now(), pricer }
    const drop = () => {
      if (this.#cache.get(key) === entry) this.#cache.delete(key)
    }
    open.then((found) => found === undefined && drop(), drop)
    this.#cache.delete(key)
    this.#cache.set(key, entry)
    if (this.#cache.size > CACHED_SESSIONS) this.#cache.delete(this.#cache.keys().next().value!)
    return open
  }

  async #read(project: string, id: string, pricer: Pricer): Promise<ResolvedSession | undefined> {
    const traceIds = await this.#options.joined.tracesOf(project, id)
    const [rows, records] = await Promise.all([
      readJoinedOutlines(this.#options, project, traceIds),
      this.#options.logs.readRecords(project, traceIds),
    ])
    if (rows.length === 0 && records.length === 0) return undefined
    const built = rows.length === 0 ? logsToSteps(records.map(({ draft }) => draft)) : []
    const arrived =
      rows.length === 0 ? built.map((draft) => draft.outline) : rows.map(({ outline }) => outline)
    if (arrived.length === 0) return undefined
    const outlines = traceIds.length === 1 ? arrived : asOneSession(id, arrived)
    const logs = correctLogTimes(
      records.map(({ draft }) => ({ ...draft.outline, content: draft.content })),
      outlines,
    )
    const traces = new Map([[id, traceIds]])
    const [known, edits] = await Promise.all([
      this.#options.duplicates.readKnown(project, traces),
      this.#options.tags.readEdits(project, traces),
    ])
    const duplicateSteps = known.get(id)
    return {
      id,
      traceIds,
      steps: resolveSteps(outlines, logs, { duplicateSteps, pricer }),
      builtContents: new Map(built.map((draft) => [draft.outline.id, draft.content])),
      logs,
      rows: new Map(rows.map((row) => [row.outline.id, row])),
      joinedSteps: new Set(rows.flatMap(({ outline, isJoined }) => (isJoined ? [outline.id] : []))),
      lastHeardAtMs: lastHeardAt(
        [...rows, ...records].map((row) => row.receivedMs),
        Date.now(),
      ),
      tagEdits: edits.get(id),
    }
  }

  async #readEarly(project: string, id: string, payloads: 'first-screen' | 'all'): Promise<StoredSpan[]> {
    const { store, joined } = this.#options
    const ids = await joined.tracesOf(project, id)
    return payloads === 'all' ? readSpans(store, project, { ids }) : this.#readFirstRows(project, ids)
  }

  /**
   * Reads the rows that are probably on the first screen, in parallel with the outlines: the first rows of the table that
   * are not large. A step has up to two rows, one from its start and one from its end.
   */
  async #readFirstRows(project: string, ids: readonly string[]): Promise<StoredSpan[]> {
    const { client, badRows } = this.#options.store
    const result = await client.query({
      query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, ${spanSelect} FROM steps
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}
          AND ${PAYLOAD_SIZE} < {largest:UInt32}
        ORDER BY started_at, step_id LIMIT {limit:UInt32}`,
      query_params: { project, ids, largest: FIRST_SCREEN_BYTES / 16, limit: 2 * FIRST_SCREEN_STEPS },
      format: 'JSONEachRow',
    })
    return toStoredSpans(badRows, await result.json<SpanRow & RowFacts>())
  }

  /** Reads the contents of steps, wherever they stand. Uses the rows that were read early, if they are current. */
  async #readWanted(
    project: string,
    open: ResolvedSession,
    wanted: readonly string[],
    early: readonly StoredSpan[],
  ): Promise<Map<string, StepContent>> {
    const byId = new Map(open.steps.map((step) => [step.id, step]))
    const isWanted = new Set(
      wanted.flatMap((id) => sourcesOf(byId.get(id)!, byId)).filter((id) => open.rows.has(id)),
    )
    const joined = await this.#joinCopies(
      project,
      open,
      [...isWanted].filter((id) => open.joinedSteps.has(id)),
    )
    for (const { span } of joined) isWanted.delete(span.spanId)
    const spans = early.filter(({ span, version, arrival }) => {
      const current = open.rows.get(span.spanId)
      return isWanted.has(span.spanId) && current?.version === version && current.arrival === arrival
    })
    for (const { span } of spans) isWanted.delete(span.spanId)
    const others = await this.#readContents(project, open.traceIds, [...isWanted])
    const joinedContents = joined.map(({ span, draft }) => [span.spanId, draft.content] as const)
    return new Map([...open.builtContents, ...contentsOf(spans), ...others, ...joinedContents])
  }

  #joinCopies(project: string, { rows }: ResolvedSession, stepIds: readonly string[]) {
    if (stepIds.length === 0) return []
    return joinCopies(
      this.#options,
      project,
      stepIds.map((step_id) => ({ session_id: rows.get(step_id)!.outline.sessionId, step_id })),
    )
  }

  async #readContents(
    project: string,
    ids: readonly string[],
    stepIds: readonly string[],
  ): Promise<Map<string, StepContent>> {
    if (stepIds.length === 0) return new Map()
    return contentsOf(await readSpans(this.#options.store, project, { ids, stepIds }))
  }
}

function contentsOf(rows: readonly StoredSpan[]): Map<string, StepContent> {
  return new Map(rows.map(({ span }) => [span.spanId, spanToStep(span).content]))
}

/** The steps at the top of the page and the first failed one, as far as their payloads fit the budget. */
function firstScreen(open: ResolvedSession): string[] {
  const failed = open.steps.find(ownsError)
  const candidates = open.steps.slice(0, FIRST_SCREEN_STEPS)
  if (failed !== undefined && !candidates.includes(failed)) candidates.unshift(failed)
  let budget = FIRST_SCREEN_BYTES
  return candidates.flatMap((step) => {
    const size = payloadSize(open.rows.get(step.id)?.version ?? 0)
    if (size > budget) return []
    budget -= size
    return [step.id]
  })
}
