import { newMonitorState, type Monitor, type MonitorState } from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { parseObject } from '../store/stored-fields.ts'
import type { VersionClock } from '../store/version-clock.ts'

/** A session that shows why a monitor is bad, at the step that shows it. */
export type Example = { sessionId: string; stepId?: string; message: string }

/** The state of a monitor and what it was last judged by. */
export type MonitorStatus = MonitorState & {
  /** The figure of the last evaluation; null without data. */
  value: number | null
  evaluatedAtMs: number | null
  /** Why the last evaluation failed. */
  problem?: string
  examples: Example[]
}

export type WatchedMonitor = { project: string; monitor: Monitor; status: MonitorStatus }

type Definition = Omit<Monitor, 'id'>

/**
 * The monitors of all projects and their states. Everything is kept in memory too, so that a store that fails loses no
 * monitor and no state.
 */
export class MonitorStore {
  readonly #store: Store
  readonly #versions: VersionClock
  readonly #watched = new Map<string, WatchedMonitor>()
  /** States that could not be stored yet. */
  readonly #unsaved = new Set<string>()

  private constructor(store: Store, versions: VersionClock) {
    this.#store = store
    this.#versions = versions
  }

  static async open(store: Store, versions: VersionClock): Promise<MonitorStore> {
    const monitors = new MonitorStore(store, versions)
    await monitors.reload()
    return monitors
  }

  /** Reads what another node may have changed. States of our own that are not stored yet stay. */
  async reload(): Promise<void> {
    const [definitions, statuses] = await Promise.all([
      this.#read<{ definition: string }>('SELECT project, id, definition FROM monitors FINAL'),
      this.#read<{ status: string }>('SELECT project, id, status FROM monitor_states FINAL'),
    ])
    const stored = new Map(statuses.map((row) => [keyOf(row.project, row.id), row.status]))
    const found = new Set<string>()
    for (const { project, id, definition } of definitions) {
      const key = keyOf(project, id)
      found.add(key)
      const monitor: Monitor = { id, ...(parseObject(definition) as Definition) }
      const text = stored.get(key)
      const status = this.#unsaved.has(key) || text === undefined ? this.#watched.get(key)?.status : undefined
      this.#watched.set(key, {
        project,
        monitor,
        status: status ?? (text === undefined ? newStatus() : (parseObject(text) as MonitorStatus)),
      })
    }
    for (const key of this.#watched.keys()) if (!found.has(key)) this.#watched.delete(key)
  }

  all(): WatchedMonitor[] {
    return [...this.#watched.values()]
  }

  list(project: string): WatchedMonitor[] {
    return this.all()
      .filter((watched) => watched.project === project)
      .sort((left, right) => (left.monitor.name < right.monitor.name ? -1 : 1))
  }

  /** Whether something is expected of every session. */
  hasRules(project: string): boolean {
    for (const watched of this.#watched.values())
      if (watched.project === project && watched.monitor.condition.kind === 'rule') return true
    return false
  }

  /** The least time that a rule gives to sessions. */
  shortestDuration(project: string): number {
    const limits = this.all().flatMap(({ project: other, monitor: { condition, isPaused } }) =>
      other === project && !isPaused && condition.kind === 'rule' && condition.rule.kind === 'duration'
        ? condition.rule.atMostMs
        : [],
    )
    return Math.min(Infinity, ...limits)
  }

  find(project: string, id: string): WatchedMonitor {
    const watched = this.#watched.get(keyOf(project, id))
    if (watched === undefined)
      throw new KnownError(
        'NOT_FOUND',
        `There is no monitor ${id.slice(0, 60)}. GET /api/monitors lists them.`,
      )
    return watched
  }

  /** Creates or replaces a monitor. Its state begins again if it watches something else now. */
  async save(project: string, monitor: Monitor): Promise<WatchedMonitor> {
    const { id, ...definition } = monitor
    const key = keyOf(project, id)
    const before = this.#watched.get(key)
    await this.#insert('monitors', [{ project, id, definition: JSON.stringify(definition), is_deleted: 0 }])
    const isSame =
      before !== undefined &&
      JSON.stringify([before.monitor.filter, before.monitor.condition]) ===
        JSON.stringify([monitor.filter, monitor.condition])
    const watched = { project, monitor, status: isSame ? before.status : newStatus() }
    this.#watched.set(key, watched)
    return watched
  }

  async remove(project: string, id: string): Promise<void> {
    this.find(project, id)
    await this.#insert('monitors', [{ project, id, definition: '', is_deleted: 1 }])
    this.#watched.delete(keyOf(project, id))
  }

  /** Keeps a state, which `saveStatuses` stores. */
  setStatus({ project, monitor }: WatchedMonitor, status: MonitorStatus): void {
    const key = keyOf(project, monitor.id)
    const watched = this.#watched.get(key)
    if (watched === undefined) return
    watched.status = status
    this.#unsaved.add(key)
  }

  /** Stores the states that are not stored yet, all of them with one statement. */
  async saveStatuses(): Promise<void> {
    const keys = [...this.#unsaved]
    const unsaved = keys.flatMap((key) => this.#watched.get(key) ?? [])
    const rows = unsaved.map(({ project, monitor, status }) => ({
      project,
      id: monitor.id,
      status: JSON.stringify(status),
    }))
    await this.#insert('monitor_states', rows)
    for (const key of keys) this.#unsaved.delete(key)
  }

  async #insert(
    table: 'monitors' | 'monitor_states',
    rows: readonly Record<string, unknown>[],
  ): Promise<void> {
    if (rows.length === 0) return
    if (this.#store.engine === undefined) await this.#versions.observe(table)
    const version = this.#versions.next()
    const values = rows.map((row) => ({ ...row, version }))
    await this.#store.client.insert({ table, format: 'JSONEachRow', values })
  }

  async #read<Row>(query: string): Promise<(Row & { project: string; id: string })[]> {
    const result = await this.#store.client.query({ query, format: 'JSONEachRow' })
    return result.json<Row & { project: string; id: string }>()
  }
}

function keyOf(project: string, id: string): string {
  return `${project}\0${id}`
}

function newStatus(): MonitorStatus {
  return { ...newMonitorState(Date.now()), value: null, evaluatedAtMs: null, examples: [] }
}
