import type { Store } from '../store/connect.ts'

/** More of a project are not kept in memory. */
const MOST_KNOWN = 20_000

/**
 * Which sessions ever broke a rule, so that nothing is read of the others whenever they are checked: few are broken, and a
 * statement costs more than a hundred rules.
 */
export class BrokenSessions {
  readonly #store: Store
  readonly #known = new Map<string, Promise<Set<string>>>()

  constructor(store: Store) {
    this.#store = store
  }

  /** False if surely none of the sessions ever broke a rule. */
  async mayInclude(project: string, ids: readonly string[]): Promise<boolean> {
    // Other servers write to a ClickHouse server too.
    if (this.#store.engine === undefined) return true
    const known = await this.#read(project)
    return known.size > MOST_KNOWN || ids.some((id) => known.has(id))
  }

  /** Call it before these are stored as broken. */
  async add(project: string, ids: readonly string[]): Promise<void> {
    if (this.#store.engine === undefined) return
    const known = await this.#read(project)
    for (const id of ids) if (known.size <= MOST_KNOWN) known.add(id)
  }

  /** Call it when something else wrote to the store. */
  forgetAll(): void {
    this.#known.clear()
  }

  #read(project: string): Promise<Set<string>> {
    const known = this.#known.get(project)
    if (known !== undefined) return known
    const reading = this.#query(project)
    this.#known.set(project, reading)
    reading.catch(() => this.#known.delete(project))
    return reading
  }

  async #query(project: string): Promise<Set<string>> {
    const result = await this.#store.client.query({
      query: `SELECT DISTINCT session_id AS id FROM rule_results
        WHERE project = {project:String} AND is_broken = 1 LIMIT ${MOST_KNOWN + 1}`,
      query_params: { project },
      format: 'JSONEachRow',
    })
    return new Set((await result.json<{ id: string }>()).map(({ id }) => id))
  }
}
