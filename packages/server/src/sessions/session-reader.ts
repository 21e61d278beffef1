import {
  contentReader,
  findTapeGaps,
  groupLogs,
  presentSession,
  presentStep,
  sourcesOf,
  spanContent,
  summarizeSession,
  type Pricer,
  type ResolvedStep,
  type Session,
  type SessionSummary,
  type Span,
  type Step,
  type StepContent,
  type TapeGap,
} from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import { findSessionId, isFullId, sessionNotFound } from './find-session.ts'
import { firstScreen, readFirstRows, readFirstScreen } from './first-screen.ts'
import { groupBySize } from './group-by-size.ts'
import { shortenSession, type ShortenedSession } from './long-session.ts'
import {
  readResolved,
  rememberedOutlines,
  type ResolvedSession,
  type ResolvingOptions,
} from './resolved-sessions.ts'
import { bytesOf, hasRowsOf, stampOf } from './session-rows.ts'
import { joinCopies } from './step-copies.ts'
import { countRows, readSpans, type OutlinesAndCopies, type StoredSpan } from './stored-steps.ts'

/** The engine refuses a statement that names many more. */
const MOST_NAMED_STEPS = 5_000

export type ReaderOptions = ResolvingOptions & {
  pricerOf: (project: string) => { pricer: Pricer }
  /** Flushes acknowledged rows, so that a session includes what was just sent. */
  catchUp: () => Promise<void>
  /** As `catchUp`, for what memory knows. Returns true if the store may lack some of it. */
  catchUpLists: () => Promise<boolean>
  /** The rows of these traces that the log still has; undefined if that can't be told. */
  readLogged: (project: string, traceIds: readonly string[]) => Promise<StoredSpan[] | undefined>
}

type Payloads = 'first-screen' | 'all' | 'none'
type OpenSession = { open: ResolvedSession; early: readonly StoredSpan[] }

/** Sessions with larger payloads are diagnosed by their previews. */
const MAX_DIAGNOSED_BYTES = 64 * 1024 * 1024
/** Sessions are resolved together as long as they have not more rows, and diagnosed together as long as their payloads are not larger. */
const PORTION_ROWS = 20_000
const GROUP_BYTES = 8 * 1024 * 1024
/** How much is read to find out whether a session can be run again. */
const MAX_TAPE_BYTES = 4 * 1024 * 1024
/** People open a long session and then look at many of its steps. */
const CACHED_SESSIONS = 8
const CACHE_MS = 30_000
/** Other servers may add to a session of a shared store, and nobody drops it from the cache then. */
const SHARED_CACHE_MS = 1_000

type CachedSession = { open: Promise<ResolvedSession | undefined>; atMs: number; pricer: Pricer }

/** All outlines of a session, if they were read in time. */
type ReadOutlines = Promise<OutlinesAndCopies | undefined>

/** A session with a stamp that changes with its steps, and the size of its payloads. */
export type StampedSession = { session: Session; stamp: string; bytes: number }

/** Reads sessions. The one place that turns stored rows back into a session. */
export class SessionReader {
  readonly #options: ReaderOptions
  readonly #cache = new Map<string, CachedSession>()
  /** The contents that come with a session, as long as it is in the cache. */
  readonly #firstScreens = new WeakMap<ResolvedSession, ReadonlyMap<string, StepContent>>()
  readonly #shortened = new WeakMap<ResolvedSession, ShortenedSession>()
  /** As long as a session is in the cache: people scroll through a long one. */
  readonly #stepsById = new WeakMap<ResolvedSession, ReadonlyMap<string, ResolvedStep>>()

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Drops a session from the cache, because something changed. */
  invalidate(project: string, sessionId: string): void {
    this.#cache.delete(`${project}\0${sessionId}`)
  }

  /** Call it when sessions were deleted. */
  forgetAll(): void {
    this.#cache.clear()
  }

  /** Reads a session as it is shown first; a long one as a skeleton. */
  async openSession(project: string, typedId: string): Promise<ShortenedSession> {
    const { open, early } = await this.#openTyped(project, typedId, 'first-screen')
    const known = this.#shortened.get(open)
    if (known !== undefined) {
      // Time changes nothing about a session that has ended.
      if (known.session.endState !== 'running' && open.lastHeardAtMs <= Date.now()) return known
      return { ...known, session: summarizeSession(open.steps, { ...open, nowMs: Date.now() }) }
    }
    const contents = await this.#contentsOf(project, open, 'first-screen', early)
    const session = presentSession(open.steps, { ...open, contents, nowMs: Date.now() })
    const shortened = shortenSession(session, { hasContent: true })
    if (shortened.skeleton !== undefined) this.#shortened.set(open, shortened)
    return shortened
  }

  /** Reads a session with its steps in start order, and the payloads of the first screen, of all steps, or of none. */
  async readSession(project: string, typedId: string, payloads: Payloads): Promise<Session> {
    const { open, early } = await this.#openTyped(project, typedId, payloads)
    const contents = await this.#contentsOf(project, open, payloads, early)
    return presentSession(open.steps, { ...open, contents, nowMs: Date.now() })
  }

  async #openTyped(project: string, typedId: string, payloads: Payloads): Promise<OpenSession> {
    const isAhead = await this.#options.catchUpLists()
    const remembered = isAhead ? await this.#openRemembered(project, typedId, payloads) : undefined
    if (remembered !== undefined) return remembered
    if (isAhead) await this.#options.catchUp()
    const id = await this.#findCaughtUp(project, typedId)
    if (payloads === 'first-screen') return this.#openFirstScreen(project, id)
    return this.#openWith(project, id, payloads === 'all')
  }

  /** Opens a session that began just now from memory and the log: the store may not have all of it yet. */
  async #openRemembered(
    project: string,
    typedId: string,
    payloads: Payloads,
  ): Promise<OpenSession | undefined> {
    if (!isFullId(typedId)) return undefined
    const id = await this.#findCaughtUp(project, typedId)
    const { joined, readLogged } = this.#options
    const traceIds = (await joined.tracesOf(project, [id])).get(id)!
    const outlines = rememberedOutlines(this.#options, project, traceIds)
    const early = payloads === 'none' ? [] : await readLogged(project, traceIds)
    if (outlines === undefined || early === undefined) return undefined
    const open = await this.#open(project, id, Promise.resolve(outlines))
    return payloads === 'none' || hasRowsOf(open, early) ? { open, early } : undefined
  }

  async #openWith(project: string, id: string, isWhole: boolean): Promise<OpenSession> {
    const ids = (await this.#options.joined.tracesOf(project, [id])).get(id)!
    const [open, early] = await Promise.all([
      this.#open(project, id),
      isWhole ? readSpans(this.#options.store, project, { ids }) : [],
    ])
    return { open, early }
  }

  /** Most sessions are short, and one statement reads all that is shown of them first. */
  async #openFirstScreen(project: string, id: string): Promise<OpenSession> {
    if (this.#findCached(project, id) !== undefined) return { open: await this.#open(project, id), early: [] }
    const { store, joined } = this.#options
    const read = async () => {
      const ids = (await joined.tracesOf(project, [id])).get(id)!
      return { ids, ...(await readFirstScreen(store, project, ids)) }
    }
    const reading = read()
    // In the cache before anything was read, so that a change in the meantime drops it.
    const opening = this.#open(
      project,
      id,
      reading.then(({ outlines }) => outlines),
    )
    const [open, early] = await Promise.all([
      opening,
      reading.then(({ ids, spans }) => spans ?? readFirstRows(store, project, ids)),
    ])
    return { open, early }
  }

  async #contentsOf(
    project: string,
    open: ResolvedSession,
    payloads: Payloads,
    early: readonly StoredSpan[],
  ): Promise<ReadonlyMap<string, StepContent>> {
    const known = payloads === 'first-screen' ? this.#firstScreens.get(open) : undefined
    if (known !== undefined) return known
    const wanted =
      payloads === 'none' ? [] : payloads === 'all' ? open.steps.map((step) => step.id) : firstScreen(open)
    const contents = await this.#readWanted(project, open, wanted, early)
    if (payloads === 'first-screen') this.#firstScreens.set(open, contents)
    return contents
  }

  /** What keeps a session from being run again. Undefined while it runs, and if it is too large to look through. */
  async readTapeGaps(project: string, read: ShortenedSession): Promise<TapeGap[] | undefined> {
    const { id, endState } = read.session
    if (endState === 'running') return undefined
    if (bytesOf(await this.#open(project, id)) > MAX_TAPE_BYTES) return undefined
    const isWhole = read.skeleton === undefined && read.steps.every(({ hasPayload }) => hasPayload)
    return findTapeGaps(isWhole ? read : await this.readSession(project, id, 'all'))
  }

  /**
   * Reads whole sessions, in groups that are not too large together. A session with payloads that are too large comes
   * without them. Does not flush what was just sent. Leaves out sessions that do not exist.
   */
  async *readStamped(project: string, ids: readonly string[]): AsyncGenerator<StampedSession[], void> {
    // Not cached: the sessions that people look at stay in the cache.
    const rows =
      ids.length <= 1 ? new Map<string, number>() : await countRows(this.#options.store, project, ids)
    for (const portion of groupBySize(ids, (id) => rows.get(id) ?? 0, PORTION_ROWS))
      yield* this.#readPortion(project, portion)
  }

  async *#readPortion(project: string, ids: readonly string[]): AsyncGenerator<StampedSession[], void> {
    const { pricer } = this.#options.pricerOf(project)
    const resolved = await readResolved(this.#options, project, { ids, pricer })
    for (const group of groupBySize([...resolved.values()], bytesOf, GROUP_BYTES)) {
      const small = group.filter((open) => bytesOf(open) <= MAX_DIAGNOSED_BYTES)
      const spansOf = Map.groupBy(await this.#readRows(project, small), ({ span }) => span.traceId)
      const read: StampedSession[] = []
      for (const open of group) {
        const spans = open.traceIds.flatMap((traceId) => spansOf.get(traceId) ?? [])
        const wanted = small.includes(open) ? open.steps.map((step) => step.id) : []
        const contents = await this.#readWanted(project, open, wanted, spans)
        const session = presentSession(open.steps, { ...open, contents, nowMs: Date.now() })
        read.push({ session, stamp: stampOf(open, session), bytes: bytesOf(open) })
      }
      yield read
    }
  }

  /** Reads the rows of whole sessions. */
  async #readRows(project: string, sessions: readonly ResolvedSession[]): Promise<StoredSpan[]> {
    const ids = sessions.flatMap(({ traceIds }) => traceIds)
    return ids.length === 0 ? [] : readSpans(this.#options.store, project, { ids })
  }

  /** The stamp that `readStamped` returns, after flushing what was just sent. */
  async readStamp(project: string, typedId: string): Promise<{ summary: SessionSummary; stamp: string }> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const summary = summarizeSession(open.steps, { ...open, nowMs: Date.now() })
    return { summary, stamp: stampOf(open, { session: summary }) }
  }

  /** Reads one step with its payload. */
  async readStep(project: string, typedId: string, stepId: string): Promise<Step> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const step =
      open.steps.find((candidate) => candidate.id === stepId) ??
      open.steps.find((candidate) => candidate.parts?.includes(stepId) === true)
    if (step === undefined) {
      throw new KnownError('STEP_NOT_FOUND', `Session ${open.id} has no step ${stepId.slice(0, 60)}.`)
    }
    const contents = await this.#readWanted(project, open, [step.id], [])
    const logs = groupLogs(open.logs, open.steps).get(step.id)
    const content = contentReader(open.steps, contents)(step)
    return presentStep(step, { startedAtMs: open.steps[0]!.startedAtMs }, content, logs)
  }

  /** Reads some steps without payloads and log records, as far as they exist. */
  async readOutlines(project: string, typedId: string, stepIds: readonly string[]): Promise<Step[]> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const byId = this.#stepsById.get(open) ?? new Map(open.steps.map((step) => [step.id, step]))
    this.#stepsById.set(open, byId)
    const session = { startedAtMs: open.steps[0]!.startedAtMs }
    return stepIds.flatMap((id) => {
      const step = byId.get(id)
      return step === undefined ? [] : [presentStep(step, session)]
    })
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
    const open = await this.#open(project, await this.#find(project, typedId))
    return summarizeSession(open.steps, { ...open, nowMs: Date.now() })
  }

  /** Resolves a typed id to the full one, after flushing what was acknowledged. */
  async #find(project: string, typedId: string): Promise<string> {
    await this.#options.catchUp()
    return this.#findCaughtUp(project, typedId)
  }

  #findCaughtUp(project: string, typedId: string): Promise<string> {
    const { store, joined } = this.#options
    return findSessionId({ client: store.client, joined }, project, typedId)
  }

  async #open(project: string, id: string, outlines?: ReadOutlines): Promise<ResolvedSession> {
    const open = await this.#readCached(project, id, outlines)
    if (open === undefined) throw sessionNotFound(id)
    return open
  }

  /**
   * Caches the promise, not its result, so that concurrent requests share one read, and `invalidate` also drops a read in
   * progress.
   */
  #readCached(
    project: string,
    id: string,
    outlines: ReadOutlines | undefined,
  ): Promise<ResolvedSession | undefined> {
    const cached = this.#findCached(project, id)
    if (cached !== undefined) return cached.open
    const key = `${project}\0${id}`
    const { pricer } = this.#options.pricerOf(project)
    const open = this.#read(project, id, pricer, outlines)
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

  #findCached(project: string, id: string): CachedSession | undefined {
    const cached = this.#cache.get(`${project}\0${id}`)
    const { pricer } = this.#options.pricerOf(project)
    const lastsMs = this.#options.store.engine === undefined ? SHARED_CACHE_MS : CACHE_MS
    return cached?.pricer === pricer && performance.now() - cached.atMs < lastsMs ? cached : undefined
  }

  async #read(
    project: string,
    id: string,
    pricer: Pricer,
    outlines: ReadOutlines | undefined,
  ): Promise<ResolvedSession | undefined> {
    const given = { ids: [id], pricer, outlines: await outlines }
    return (await readResolved(this.#options, project, given)).get(id)
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
    const { store } = this.#options
    if (stepIds.length <= MOST_NAMED_STEPS)
      return contentsOf(await readSpans(store, project, { ids, stepIds }))
    const isWanted = new Set(stepIds)
    return contentsOf(
      (await readSpans(store, project, { ids })).filter(({ span }) => isWanted.has(span.spanId)),
    )
  }
}

function contentsOf(rows: readonly StoredSpan[]): Map<string, StepContent> {
  return new Map(rows.map(({ span }) => [span.spanId, spanContent(span)]))
}
