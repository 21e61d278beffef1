import { breakFinder, type Monitor } from '@playhead/model'
import { sessionConditions, sessionFilterSchema } from '../query/session-filter.ts'
import type { Store } from '../store/connect.ts'
import type { DiagnosedSession } from '../store/findings-table.ts'
import { hourBucket } from '../store/sessions-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { BrokenSessions } from './broken-sessions.ts'
import type { Example, MonitorStore, WatchedMonitor } from './monitor-store.ts'

const MAX_MESSAGE = 500
const EXAMPLES = 3

/**
 * Which sessions broke which rule. Rules are checked where findings are computed: after a session has ended and whenever it
 * changes again, on the session that was read for the findings, so that 100 rules cost no further read. While it runs,
 * `RunningSessions` checks them.
 */
export class RuleResults {
  readonly #store: Store
  readonly #versions: VersionClock
  readonly #monitors: MonitorStore
  readonly #everBroken: BrokenSessions

  constructor(store: Store, versions: VersionClock, monitors: MonitorStore) {
    this.#store = store
    this.#versions = versions
    this.#monitors = monitors
    this.#everBroken = new BrokenSessions(store)
  }

  /** Call it when something else wrote to the store. */
  forgetAll(): void {
    this.#everBroken.forgetAll()
  }

  /** Checks every rule of the project on some sessions, and stores what changed. */
  async check(project: string, diagnosed: readonly DiagnosedSession[], nowMs = Date.now()): Promise<void> {
    const rules = this.#monitors.list(project).filter(isActiveRule)
    // Re-runs are experiments: they never count.
    const sessions = diagnosed.filter(({ summary }) => summary.parentId === undefined)
    if (rules.length === 0 || sessions.length === 0) return
    const ids = sessions.map(({ summary }) => summary.id)
    const known = await this.#readBroken(project, ids)
    const broken = sessions.flatMap((session) => findBreaks(session, rules, nowMs))
    const matching = await this.#readMatching(project, broken)
    const rows: Record<string, unknown>[] = []
    const foundIds: string[] = []
    for (const { session, monitor, ...found } of broken) {
      if (!(matching.get(filterKey(monitor.filter))?.has(session.summary.id) ?? true)) continue
      known.delete(keyOf(monitor.id, session.summary.id))
      rows.push({ ...toRow(project, monitor.id, session), is_broken: 1, ...found })
      foundIds.push(session.summary.id)
    }
    if (foundIds.length > 0) await this.#everBroken.add(project, foundIds)
    // The others are no longer broken.
    for (const session of sessions)
      for (const { monitor } of rules)
        if (known.has(keyOf(monitor.id, session.summary.id)))
          rows.push({ ...toRow(project, monitor.id, session), is_broken: 0, step_id: '', message: '' })
    await this.#insert(project, rows)
  }

  /** How many sessions broke each rule within its window, with the latest of them. */
  async count(
    project: string,
    rules: readonly WatchedMonitor[],
    nowMs: number,
  ): Promise<Map<string, { sessions: number; examples: Example[] }>> {
    if (rules.length === 0) return new Map()
    const result = await this.#store.client.query({
      query: `SELECT monitor_id, count() AS sessions,
          arraySlice(arrayReverseSort(groupArray((toUnixTimestamp64Milli(at), session_id, step_id, message))), 1, ${EXAMPLES}) AS examples
        FROM rule_results FINAL
        WHERE project = {project:String} AND is_broken = 1
          AND toUnixTimestamp64Milli(at) >= {nowMs:Int64} - transform(monitor_id, {ids:Array(String)}, {windows:Array(Int64)}, toInt64(0))
          AND monitor_id IN {ids:Array(String)}
        GROUP BY monitor_id`,
      query_params: {
        project,
        nowMs,
        ids: rules.map(({ monitor }) => monitor.id),
        windows: rules.map(({ monitor }) => monitor.condition.windowMs),
      },
      format: 'JSONEachRow',
    })
    const rows = await result.json<{
      monitor_id: string
      sessions: number
      examples: [number, string, string, string][]
    }>()
    return new Map(
      rows.map(({ monitor_id, sessions, examples }) => [
        monitor_id,
        {
          sessions,
          examples: examples.map(([, sessionId, stepId, message]) => ({
            sessionId,
            ...(stepId !== '' && { stepId }),
            message,
          })),
        },
      ]),
    )
  }

  async #readBroken(project: string, ids: readonly string[]): Promise<Set<string>> {
    if (!(await this.#everBroken.mayInclude(project, ids))) return new Set()
    const result = await this.#store.client.query({
      query: `SELECT monitor_id, session_id FROM rule_results FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND is_broken = 1`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    const rows = await result.json<{ monitor_id: string; session_id: string }>()
    return new Set(rows.map(({ monitor_id, session_id }) => keyOf(monitor_id, session_id)))
  }

  /** Which of the sessions that break a rule its filter means; a monitor without a filter is missing. */
  async #readMatching(project: string, broken: readonly Break[]): Promise<Map<string, ReadonlySet<string>>> {
    const matching = new Map<string, ReadonlySet<string>>()
    for (const [key, breaks] of Map.groupBy(broken, ({ monitor }) => filterKey(monitor.filter))) {
      if (key === '{}') continue
      const sessions = breaks.map(({ session }) => session.summary)
      const filter = sessionFilterSchema.parse(breaks[0]!.monitor.filter)
      const { sql, params } = sessionConditions(this.#store, project, filter)
      const result = await this.#store.client.query({
        query: `SELECT session_id FROM sessions FINAL WHERE ${sql} AND session_id IN {checkedIds:Array(String)}
          AND bucket IN {checkedBuckets:Array(UInt32)}`,
        query_params: {
          ...params,
          checkedIds: [...new Set(sessions.map(({ id }) => id))],
          checkedBuckets: [...new Set(sessions.map(({ startedAt }) => hourBucket(Date.parse(startedAt))))],
        },
        format: 'JSONEachRow',
      })
      const rows = await result.json<{ session_id: string }>()
      matching.set(key, new Set(rows.map(({ session_id }) => session_id)))
    }
    return matching
  }

  async #insert(project: string, rows: readonly Record<string, unknown>[]): Promise<void> {
    if (rows.length === 0) return
    if (this.#store.engine === undefined)
      await this.#versions.observe('rule_results', 'project = {project:String}', { project })
    const version = this.#versions.next()
    const values = rows.map((row) => ({ ...row, version }))
    await this.#store.client.insert({ table: 'rule_results', format: 'JSONEachRow', values })
  }
}

type RuleCondition = Extract<WatchedMonitor['monitor']['condition'], { kind: 'rule' }>

function isActiveRule({ monitor }: WatchedMonitor): boolean {
  return monitor.condition.kind === 'rule' && !monitor.isPaused
}

function filterKey(filter: object): string {
  return JSON.stringify(filter)
}

type Break = { session: DiagnosedSession; monitor: Monitor; step_id: string; message: string }

/** The rules that a session breaks, whatever their filters say: few are broken, and a filter costs a statement. */
function findBreaks(session: DiagnosedSession, rules: readonly WatchedMonitor[], nowMs: number): Break[] {
  const { summary, steps, diagnosis } = session
  const find = breakFinder({ session: summary, steps: [...steps] }, { ...diagnosis, nowMs })
  return rules.flatMap(({ monitor }) => {
    const verdict = find((monitor.condition as RuleCondition).rule)
    if (verdict === undefined) return []
    const step_id = verdict.stepId ?? diagnosis.suspects[0]?.stepId ?? ''
    return { session, monitor, step_id, message: verdict.message.slice(0, MAX_MESSAGE) }
  })
}

function toRow(project: string, monitorId: string, { summary }: DiagnosedSession): Record<string, unknown> {
  const at = (summary.endedAt ?? summary.startedAt).replace('T', ' ').replace('Z', '')
  return { project, monitor_id: monitorId, session_id: summary.id, at }
}

function keyOf(monitorId: string, sessionId: string): string {
  return `${monitorId}\0${sessionId}`
}
