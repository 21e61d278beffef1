import type { Store } from '../store/connect.ts'
import { SELECT_OPENS, toOpensRow, type ShareOpens } from '../store/shares-table.ts'

/** Whoever opened a link and then looks at its steps does not open it again. */
const VISIT_MS = 30 * 60_000
const MAX_VISITS = 10_000

/**
 * Counts how often links are opened. Counts are in memory and are saved every few seconds: a server that is killed forgets
 * those since. With several servers, each knows the counts of the others up to their last save.
 */
export class ShareOpenCounts {
  readonly #client: Store['client']
  readonly #node: string
  readonly #own = new Map<string, ShareOpens>()
  #others = new Map<string, ShareOpens>()
  readonly #unsaved = new Set<string>()
  readonly #visits = new Map<string, number>()

  /** `node` identifies this process among the servers of a store. */
  constructor({ client }: Pick<Store, 'client'>, node: string) {
    this.#client = client
    this.#node = node
  }

  /** `visitor` is where the request came from. `isOpening`: the session itself was requested, not a part of it. */
  note(id: string, visitor: string, isOpening: boolean): void {
    const nowMs = Date.now()
    const visit = `${id} ${visitor}`
    const isKnown = nowMs - (this.#visits.get(visit) ?? 0) < VISIT_MS
    if (isKnown && !isOpening) return
    this.#visits.delete(visit)
    this.#visits.set(visit, nowMs)
    if (this.#visits.size > MAX_VISITS) this.#visits.delete(this.#visits.keys().next().value!)
    const opens = (this.#own.get(id)?.opens ?? 0) + 1
    this.#own.set(id, { opens, openedAt: new Date(nowMs).toISOString() })
    this.#unsaved.add(id)
  }

  of(id: string): { opens: number; lastOpenedAt: string | null } {
    const counts = [this.#own.get(id), this.#others.get(id)].filter((count) => count !== undefined)
    return {
      opens: counts.reduce((sum, { opens }) => sum + opens, 0),
      lastOpenedAt:
        counts
          .map(({ openedAt }) => openedAt)
          .sort()
          .at(-1) ?? null,
    }
  }

  async save(): Promise<void> {
    const ids = [...this.#unsaved]
    if (ids.length === 0) return
    this.#unsaved.clear()
    try {
      await this.#client.insert({
        table: 'share_opens',
        format: 'JSONEachRow',
        values: ids.map((id) => toOpensRow(id, this.#node, this.#own.get(id)!)),
      })
    } catch (error) {
      for (const id of ids) this.#unsaved.add(id)
      throw error
    }
  }

  async reload(): Promise<void> {
    const result = await this.#client.query({
      query: SELECT_OPENS,
      query_params: { node: this.#node },
      format: 'JSONEachRow',
    })
    const rows = await result.json<ShareOpens & { id: string }>()
    this.#others = new Map(rows.map(({ id, ...counts }) => [id, counts]))
  }
}
