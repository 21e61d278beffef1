import type { ClickHouseClient } from '@clickhouse/client'
import { isoTime } from '../store/iso-time.ts'

const MINUTE_MS = 60_000

/** When keys and logins were last used, to the minute: noting a use costs a lookup, and the store is written once a minute. */
export class LastUses {
  readonly #client: ClickHouseClient
  readonly #usedAtMs = new Map<string, number>()
  readonly #unsaved = new Set<string>()

  private constructor(client: ClickHouseClient) {
    this.#client = client
  }

  static async open(client: ClickHouseClient): Promise<LastUses> {
    const uses = new LastUses(client)
    await uses.reload()
    return uses
  }

  note(id: string): void {
    const nowMs = Date.now()
    if (nowMs - (this.#usedAtMs.get(id) ?? 0) < MINUTE_MS) return
    this.#usedAtMs.set(id, nowMs - (nowMs % MINUTE_MS))
    this.#unsaved.add(id)
  }

  of(id: string): string | null {
    const usedAtMs = this.#usedAtMs.get(id)
    return usedAtMs === undefined ? null : new Date(usedAtMs).toISOString()
  }

  async save(): Promise<void> {
    const ids = [...this.#unsaved]
    if (ids.length === 0) return
    this.#unsaved.clear()
    try {
      await this.#client.insert({
        table: 'last_uses',
        format: 'JSONEachRow',
        values: ids.map((id) => ({ id, used_at: this.of(id) })),
      })
    } catch (error) {
      for (const id of ids) this.#unsaved.add(id)
      throw error
    }
  }

  /** Picks up what other nodes saw. */
  async reload(): Promise<void> {
    const result = await this.#client.query({
      query: `SELECT id, ${isoTime('max(used_at)')} AS usedAt FROM last_uses GROUP BY id`,
      format: 'JSONEachRow',
    })
    for (const { id, usedAt } of await result.json<{ id: string; usedAt: string }>())
      this.#usedAtMs.set(id, Math.max(this.#usedAtMs.get(id) ?? 0, Date.parse(usedAt)))
  }
}
