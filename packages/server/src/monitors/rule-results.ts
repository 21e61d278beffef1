import { checkRule, type Rule } from '@playhead/model'
import { sessionConditions, sessionFilterSchema } from '../query/session-filter.ts'
import type { Store } from '../store/connect.ts'
import type { DiagnosedSession } from '../store/findings-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
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

  constructor(store: Store, versions: VersionClock, monitors: MonitorStore) {
    this.#store = store
    this.#versions = versions
    this.#monitors = monitors
  }

  /** Checks every rule of the project on some sessions, and stores what changed. */
  async check(project: string, diagnosed: readonly DiagnosedSession[], nowMs = Date.now()): Promise<void> {
    const rules = this.#monitors.list(project).filter(isActiveRule)
    // Re-runs are experiments: they never count.
    const sessions = diagnosed.filter(({ summary }) => summary.parentId === undefined)
    if (rules.length === 0 || sessions.length === 0) return
    const ids = sessions.map(({ summary }) => summary.id)
    const [known, matching] = await Promise.all([
      this.#readBroken(project, ids),
      this.#readMatching(project, ids, rules),
    ])
    const rows: Record<string, unknown>[] = []
    for (const session of sessions)
      for (const { monitor } of rules) {
        const id = session.summary.id
        const isMeant = matching.get(filterKey(monitor.filter))?.has(id) ?? true
        const broken = isMeant
          ? breakOf((monitor.condition as RuleCondition).rule, session, nowMs)
          : undefined
        if (broken === undefined && !known.has(`${monitor.id}\0${id}`)) continue
        rows.push({
          project,
          monitor_id: monitor.id,
          session_id: id,
          at: (session.summary.endedAt ?? session.summary.startedAt).replace('T', ' ').replace('Z', ''),
          is_broken: broken === undefined ? 0 : 1,
          step_id: broken?.stepId ?? '',
          message: broken?.message ?? '',
        })
      }
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

  async #readBroken(project: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const result = await this.#store.client.query({
      query: `SELECT monitor_id, session_id FROM rule_results FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND is_broken = 1`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    const rows = await result.json<{ monitor_id: string; session_id: string }>()
    return new Set(rows.map(({ monitor_id, session_id }) => `${monitor_id}\0${session_id}`))
  }

  /** The sessions that each filter matches; a monitor without a filter is missing. */
  async #readMatching(
    project: string,
    ids: readonly string[],
    rules: readonly WatchedMonitor[],
  ): Promise<Map<string, ReadonlySet<string>>> {
    const matching = new Map<string, ReadonlySet<string>>()
    for (const { monitor } of rules) {
      const key = filterKey(monitor.filter)
      if (key === '{}' || matching.has(key)) continue
      const { sql, params } = sessionConditions(project, sessionFilterSchema.parse(monitor.filter))
      const result = await this.#store.client.query({
        query: `SELECT session_id FROM sessions FINAL WHERE ${sql} AND session_id IN {checkedIds:Array(String)}`,
        query_params: { ...params, checkedIds: ids },
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

/** Why the session breaks the rule; undefined if it does not, or nobody can tell. */
function breakOf(
  rule: Rule,
  { summary, steps, diagnosis }: DiagnosedSession,
  nowMs: number,
): { stepId?: string; message: string } | undefined {
  const verdict = checkRule(rule, { session: summary, steps: [...steps] }, { ...diagnosis, nowMs })
  if (verdict === undefined || verdict.pass) return undefined
  const suspect = diagnosis.suspects[0]?.stepId
  const stepId = verdict.stepId ?? suspect
  return { ...(stepId !== undefined && { stepId }), message: verdict.message.slice(0, MAX_MESSAGE) }
}
