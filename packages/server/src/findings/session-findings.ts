import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  judgeInTurns,
  type Diagnosis,
  type DiagnosisContext,
  type Findings,
  type Session,
} from '@playhead/model'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import type { SessionReader, StampedSession } from '../sessions/session-reader.ts'
import type { Store } from '../store/connect.ts'
import { toDiagnosed, type DiagnosedSession } from '../store/findings-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { SessionContext } from './session-context.ts'
import { StoredFindings } from './stored-findings.ts'

export type FindingsOptions = {
  store: Store
  versions: VersionClock
  reader: SessionReader
  joined: JoinedTraces
  /** Called for sessions that were diagnosed, once their findings are stored. */
  onDiagnosed?: (project: string, diagnosed: readonly DiagnosedSession[]) => Promise<void>
}

/** Sessions with more steps let other work pass while they are diagnosed. */
const SHORT_SESSION_STEPS = 400

/** What went wrong in sessions: computed when they have ended or when somebody asks, and stored. */
export class SessionFindings {
  readonly #options: FindingsOptions
  readonly #context: SessionContext
  readonly stored: StoredFindings

  constructor(options: FindingsOptions) {
    this.#options = options
    this.#context = new SessionContext(options.store, options.reader)
    this.stored = new StoredFindings(options.store, options.versions)
  }

  /** The findings of a session as it is now. A session that runs has none yet. */
  async read(project: string, typedId: string): Promise<Findings> {
    const { summary, stamp } = await this.#options.reader.readStamp(project, typedId)
    if (summary.endState === 'running') return { findings: [], suspects: [] }
    return (await this.stored.read(project, summary.id, stamp)) ?? (await this.compute(project, summary.id))
  }

  /** Computes and stores the findings of a session. */
  async compute(project: string, id: string): Promise<Findings> {
    const [diagnosis] = await this.computeAll(project, [id])
    const { findings, suspects } = diagnosis ?? { findings: [], suspects: [] }
    return { findings, suspects }
  }

  /**
   * Computes the findings of some sessions, read and stored together, because a statement costs more than what it reads.
   * Those of a trace that joined another session are removed; sessions that run are left out. What a signal
   * leaves undone is found at the next start.
   */
  async computeAll(project: string, ids: readonly string[], signal?: AbortSignal): Promise<Diagnosis[]> {
    const owners = await this.#options.joined.sessionsOf(project, ids)
    const left = ids.filter((id, index) => owners[index] === id)
    const gone = new Set(ids)
    const found: Diagnosis[] = []
    for await (const group of this.#options.reader.readStamped(project, left)) {
      for (const { session } of group) gone.delete(session.session.id)
      if (signal?.aborted === true) return found
      // Stored at once: many sessions with their steps may not fit in memory.
      const diagnosed = await this.#diagnose(project, group)
      await this.stored.save(project, diagnosed)
      await this.#options.onDiagnosed?.(project, diagnosed)
      found.push(...diagnosed.map(({ diagnosis }) => diagnosis))
    }
    await this.stored.remove(project, [...gone])
    return found
  }

  async #diagnose(project: string, group: readonly StampedSession[]): Promise<DiagnosedSession[]> {
    const ended = group.filter(({ session }) => session.session.endState !== 'running')
    const contextOf = await this.#context.read(
      project,
      ended.map(({ session }) => session.session),
    )
    const diagnosed: DiagnosedSession[] = []
    for (const { session, stamp } of ended) {
      const diagnosis = await judge(session, contextOf(session.session))
      diagnosed.push(toDiagnosed(session, stamp, diagnosis))
      await nextTurn()
    }
    return diagnosed
  }
}

async function judge(session: Session, context: DiagnosisContext): Promise<Diagnosis> {
  const turns = judgeInTurns(session, context)
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    if (session.steps.length > SHORT_SESSION_STEPS) await nextTurn()
  }
}
