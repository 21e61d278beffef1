import type { ClickHouseSettings } from '@clickhouse/client'
import type { Store } from './connect.ts'
import { asStoreError } from './store-error.ts'

const NAME = 'text_index'
/** The words of fewer rows are indexed at once. */
const MIN_ROWS = 5_000
const CHECK_MS = 5_000
/** So long after the last insert without the index, the engine is taken to have time for it. */
const QUIET_MS = 5_000

type Rest = { partitions: string[]; running: number; failed: number }

/**
 * The index of the words in `steps`. Building it takes the engine more than all the rest of an insert, and every merge
 * builds it anew. So while segments wait, rows are inserted without it: merges add it, or `build` when there is time. Until
 * then a search reads those rows themselves, so it finds the same.
 */
export class WordIndex {
  readonly #store: Pick<Store, 'client' | 'engine'>
  /** An earlier process may have left rows without the index. */
  #isDue = true
  /** Whether `build` has asked for what is due. It asks once: a part may have no words at all. */
  #isAsked = false
  #leftAtMs = -Infinity

  constructor(store: Pick<Store, 'client' | 'engine'>) {
    this.#store = store
  }

  /** Builds what is missing from time to time, until the cleanups run. */
  static open(store: Store, report: (line: string) => void, cleanups: (() => unknown)[]): WordIndex {
    const index = new WordIndex(store)
    const timer = setInterval(() => {
      if (performance.now() - index.#leftAtMs < QUIET_MS) return
      void index.build().catch((error: Error) => {
        // What a later attempt may fix, others report.
        if (asStoreError(error) === undefined) report(`Words could not be indexed: ${error.message}`)
      })
    }, CHECK_MS)
    cleanups.push(() => clearInterval(timer))
    return index
  }

  /** Settings of an insert into `steps` while so many other segments wait. A ClickHouse server has its own processors. */
  insertSettings({ rows, waiting }: { rows: number; waiting: number }): ClickHouseSettings {
    if (rows < MIN_ROWS || waiting === 0 || this.#store.engine === undefined) return {}
    this.#isDue = true
    this.#isAsked = false
    this.#leftAtMs = performance.now()
    return { exclude_materialize_skip_indexes_on_insert: NAME }
  }

  /** Has the engine index what is not indexed, in the background. Cheap if there is nothing. */
  async build(): Promise<void> {
    if (!this.#isDue || this.#store.engine === undefined) return
    const { partitions, running, failed } = await this.#rest()
    if (failed === 0 && running > 0) return
    this.#isDue = failed === 0 && !this.#isAsked && partitions.length > 0
    if (failed > 0) return this.#giveUp()
    if (!this.#isDue) return
    this.#isAsked = true
    for (const id of partitions)
      await this.#store.client.command({
        query: `ALTER TABLE steps MATERIALIZE INDEX ${NAME} IN PARTITION ID '${id.replaceAll(/\W/g, '')}'`,
      })
  }

  /** Where the index is missing. A part without it has only that of segments, with two numbers for each mark. */
  async #rest(): Promise<Rest> {
    const result = await this.#store.client.query({
      query: `WITH ours AS (
          SELECT latest_fail_reason AS reason FROM system.mutations
          WHERE database = currentDatabase() AND table = 'steps' AND NOT is_done AND command LIKE '%${NAME}%')
        SELECT groupUniqArray(partition_id) AS partitions, (SELECT count() FROM ours) AS running,
          (SELECT countIf(reason != '') FROM ours) AS failed
        FROM system.parts
        WHERE database = currentDatabase() AND table = 'steps' AND active AND secondary_indices_uncompressed_bytes <= 16 * marks`,
      format: 'JSONEachRow',
    })
    const [rest] = await result.json<Rest>()
    return rest ?? { partitions: [], running: 0, failed: 0 }
  }

  /** Very many distinct words can exceed the engine's memory. It would try again for ever; merges need less. */
  async #giveUp(): Promise<void> {
    await this.#store.client.command({
      query: `KILL MUTATION WHERE database = currentDatabase() AND table = 'steps' AND command LIKE '%${NAME}%'`,
    })
  }
}
