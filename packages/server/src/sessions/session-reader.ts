import {
  groupLogs,
  logsToSteps,
  ownsError,
  presentSession,
  presentStep,
  resolveSteps,
  correctLogTimes,
  spanToStep,
  summarizeSession,
  type Pricer,
  type ResolvedStep,
  type Session,
  type SessionLog,
  type Span,
  type Step,
  type StepContent,
} from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import type { DuplicateCalls } from './duplicate-calls.ts'
import { PAYLOAD_SIZE, payloadSize, spanFromRow, spanSelect, type SpanRow } from '../store/steps-table.ts'
import type { StoredLogs } from './stored-logs.ts'
import { findSessionId, sessionNotFound } from './find-session.ts'
import { readOutlines, readSpans } from './stored-steps.ts'

/** What was received of a session, resolved, without payloads. */
type OpenSession = {
  id: string
  steps: ResolvedStep[]
  /** Contents of steps that were built from logs, which have no row of their own. */
  builtContents: ReadonlyMap<string, StepContent>
  logs: SessionLog[]
  /** Of each step, which of its rows counts. */
  versions: ReadonlyMap<string, number>
  lastHeardAtMs: number
}

export type ReaderTools = {
  store: Store
  logs: StoredLogs
  duplicates: DuplicateCalls
  pricerOf: (project: string) => { pricer: Pricer }
  /** Flushes acknowledged rows, so that a session includes what was just sent. */
  catchUp: () => Promise<void>
}

type VersionedRow = SpanRow & { version: number }

/** What the first screen of a replay shows. */
const FIRST_SCREEN_STEPS = 60
const FIRST_SCREEN_BYTES = 512 * 1024
/** Opening a long session once serves the many steps that are then looked at. */
const KEPT_SESSIONS = 8
const KEPT_FOR_MS = 30_000

type KeptSession = { open: Promise<OpenSession | undefined>; atMs: number; pricer: Pricer }

/** Opens sessions: the one place where stored rows become a session again. */
export class SessionReader {
  readonly #tools: ReaderTools
  readonly #kept = new Map<string, KeptSession>()

  constructor(tools: ReaderTools) {
    this.#tools = tools
  }

  /** Something arrived for this session: what is remembered of it is old. */
  forget(project: string, sessionId: string): void {
    this.#kept.delete(`${project}\0${sessionId}`)
  }

  /** The session, its steps in start order, and the payloads of the first screen (or of all, or of none). */
  async readSession(
    project: string,
    typedId: string,
    payloads: 'first-screen' | 'all' | 'none',
  ): Promise<Session> {
    const id = await this.#find(project, typedId)
    const [open, early] = await Promise.all([
      this.#open(project, id),
      payloads === 'none'
        ? []
        : payloads === 'all'
          ? readSpans(this.#tools.store.client, project, { ids: [id] })
          : this.#readFirstRows(project, id),
    ])
    const wanted =
      payloads === 'none' ? [] : payloads === 'all' ? open.steps.map((step) => step.id) : firstScreen(open)
    const contents = await this.#readWanted(project, open, wanted, early)
    const { logs, lastHeardAtMs } = open
    return presentSession(open.steps, { contents, logs, nowMs: Date.now(), lastHeardAtMs })
  }

  /** One step with everything it holds. */
  async readStep(project: string, typedId: string, stepId: string): Promise<Step> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const step = open.steps.find((candidate) => candidate.id === stepId)
    if (step === undefined) {
      throw new KnownError('STEP_NOT_FOUND', `Session ${open.id} has no step ${stepId.slice(0, 60)}.`)
    }
    const content =
      open.builtContents.get(stepId) ?? (await this.#readContents(project, open.id, [stepId])).get(stepId)
    const logs = groupLogs(open.logs, open.steps).get(stepId)
    return presentStep(step, { startedAtMs: open.steps[0]!.startedAtMs }, content, logs)
  }

  /** The spans as they arrived, for an export. */
  async readSpans(project: string, typedId: string): Promise<Span[]> {
    const open = await this.#open(project, await this.#find(project, typedId))
    const rows = await readSpans(this.#tools.store.client, project, { ids: [open.id] })
    return rows.map(spanFromRow).sort((left, right) => Number(left.startNs - right.startNs))
  }

  async readSummary(project: string, typedId: string) {
    const open = await this.#open(project, await this.#find(project, typedId))
    return summarizeSession(open.steps, { nowMs: Date.now(), lastHeardAtMs: open.lastHeardAtMs })
  }

  /** The whole id of the session that was asked for, and all that was acknowledged of it in the store. */
  async #find(project: string, typedId: string): Promise<string> {
    await this.#tools.catchUp()
    return findSessionId(this.#tools.store.client, project, typedId)
  }

  async #open(project: string, id: string): Promise<OpenSession> {
    const open = await this.#readOnce(project, id)
    if (open === undefined) throw sessionNotFound(id)
    return open
  }

  /**
   * What is kept is the reading, not what it found: whoever asks meanwhile shares it, and one that was under way when
   * something arrived is forgotten like any other.
   */
  #readOnce(project: string, id: string): Promise<OpenSession | undefined> {
    const key = `${project}\0${id}`
    const kept = this.#kept.get(key)
    const { pricer } = this.#tools.pricerOf(project)
    if (kept?.pricer === pricer && Date.now() - kept.atMs < KEPT_FOR_MS) return kept.open
    const open = this.#read(project, id, pricer)
    const entry = { open, atMs: Date.now(), pricer }
    const drop = () => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key)
    }
    open.then((found) => found === undefined && drop(), drop)
    this.#kept.delete(key)
    this.#kept.set(key, entry)
    if (this.#kept.size > KEPT_SESSIONS) this.#kept.delete(this.#kept.keys().next().value!)
    return open
  }

  async #read(project: string, id: string, pricer: Pricer): Promise<OpenSession | undefined> {
    const [rows, records] = await Promise.all([
      readOutlines(this.#tools.store.client, project, [id]),
      this.#tools.logs.readRecords(project, [id]),
    ])
    if (rows.length === 0 && records.length === 0) return undefined
    const built = rows.length === 0 ? logsToSteps(records.map(({ draft }) => draft)) : []
    const outlines =
      rows.length === 0 ? built.map((draft) => draft.outline) : rows.map(({ outline }) => outline)
    if (outlines.length === 0) return undefined
    const logs = correctLogTimes(
      records.map(({ draft }) => ({ ...draft.outline, content: draft.content })),
      outlines,
    )
    const duplicateSteps = (await this.#tools.duplicates.known(project, [id])).get(id)
    return {
      id,
      steps: resolveSteps(outlines, logs, { duplicateSteps, pricer }),
      builtContents: new Map(built.map((draft) => [draft.outline.id, draft.content])),
      logs,
      versions: new Map(rows.map(({ outline, version }) => [outline.id, version])),
      lastHeardAtMs: [
        ...rows.map((row) => row.receivedMs),
        ...records.map((record) => record.receivedMs),
      ].reduce((last, ms) => Math.max(last, ms), 0),
    }
  }

  /**
   * What will probably be on the first screen, read while the outlines are: the rows that come first, in the order of the
   * table, and not the large ones. A step has two, one from its beginning and one from its end.
   */
  async #readFirstRows(project: string, id: string): Promise<VersionedRow[]> {
    const result = await this.#tools.store.client.query({
      query: `SELECT version, ${spanSelect} FROM steps
        WHERE project = {project:String} AND session_id = {id:String}
          AND ${PAYLOAD_SIZE} < {largest:UInt32}
        ORDER BY started_at, step_id LIMIT {limit:UInt32}`,
      query_params: { project, id, largest: FIRST_SCREEN_BYTES / 16, limit: 2 * FIRST_SCREEN_STEPS },
      format: 'JSONEachRow',
    })
    return result.json<VersionedRow>()
  }

  /** The contents of steps, from rows that were read early where they are the ones that count. */
  async #readWanted(
    project: string,
    open: OpenSession,
    wanted: readonly string[],
    early: readonly VersionedRow[],
  ): Promise<Map<string, StepContent>> {
    const isWanted = new Set(wanted)
    const rows = early.filter(
      (row) => isWanted.has(row.step_id) && open.versions.get(row.step_id) === row.version,
    )
    for (const row of rows) isWanted.delete(row.step_id)
    const others = await this.#readContents(project, open.id, [...isWanted])
    return new Map([...open.builtContents, ...contentsOf(rows), ...others])
  }

  async #readContents(
    project: string,
    id: string,
    stepIds: readonly string[],
  ): Promise<Map<string, StepContent>> {
    if (stepIds.length === 0) return new Map()
    return contentsOf(await readSpans(this.#tools.store.client, project, { ids: [id], stepIds }))
  }
}

function contentsOf(rows: readonly SpanRow[]): Map<string, StepContent> {
  return new Map(rows.map((row) => [row.step_id, spanToStep(spanFromRow(row)).content]))
}

/** The steps at the top of the page and the first that failed, as far as they are small enough to send unasked. */
function firstScreen(open: OpenSession): string[] {
  const failed = open.steps.find(ownsError)
  const candidates = open.steps.slice(0, FIRST_SCREEN_STEPS)
  if (failed !== undefined && !candidates.includes(failed)) candidates.unshift(failed)
  let budget = FIRST_SCREEN_BYTES
  return candidates.flatMap((step) => {
    const size = payloadSize(open.versions.get(step.id) ?? 0)
    if (size > budget) return []
    budget -= size
    return [step.id]
  })
}
