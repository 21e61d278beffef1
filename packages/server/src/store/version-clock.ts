import type { ClickHouseClient } from '@clickhouse/client'

/** The tables in which the row with the highest version counts, and the version is a time. */
const versionedTables = [
  'keys',
  'projects',
  'sessions',
  'duplicate_calls',
  'joined_traces',
  'session_tags',
  'session_findings',
  'issues',
  'people',
  'monitors',
  'monitor_states',
  'rule_results',
  'shares',
  'destinations',
  'deliveries',
] as const
type VersionedTable = (typeof versionedTables)[number]

/**
 * Gives out the versions of rows: microseconds of the clock, but always higher than every version seen before. The store
 * itself remembers the highest one, so that versions also rise across restarts, with the clock set back, and when several
 * servers with different clocks write to one store.
 */
export class VersionClock {
  readonly #client: ClickHouseClient
  readonly #nowMs: () => number
  #last = 0

  private constructor(client: ClickHouseClient, nowMs: () => number) {
    this.#client = client
    this.#nowMs = nowMs
  }

  static async open(client: ClickHouseClient, nowMs: () => number = Date.now): Promise<VersionClock> {
    const clock = new VersionClock(client, nowMs)
    // One aggregation: with one for each table, the engine would compile `max` to machine code first, which takes far longer.
    const each = versionedTables.map((table) => `SELECT version FROM ${table}`)
    await clock.#observe(`SELECT max(version) AS newest FROM (${each.join(' UNION ALL ')})`)
    return clock
  }

  next(): number {
    return this.reserve(1)
  }

  /** The first of as many versions, for whoever gives them out later. */
  reserve(count: number): number {
    const first = Math.max(Math.floor(this.#nowMs() * 1_000), this.#last + 1)
    this.#last = first + count - 1
    return first
  }

  /** Call it before `next` for rows that another server or a restored backup may have written. */
  async observe(table: VersionedTable, condition = '1', params: Record<string, unknown> = {}): Promise<void> {
    await this.#observe(`SELECT max(version) AS newest FROM ${table} WHERE ${condition}`, params)
  }

  async #observe(query: string, params: Record<string, unknown> = {}): Promise<void> {
    const result = await this.#client.query({ query, query_params: params, format: 'JSONEachRow' })
    const [row] = await result.json<{ newest: number }>()
    this.#last = Math.max(this.#last, row?.newest ?? 0)
  }
}
