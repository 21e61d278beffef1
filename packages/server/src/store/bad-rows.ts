/** A row that can't be read, and why. */
export type BadRow = { table: string; id: string; problem: string }

const MAX_LISTED = 100
const MAX_TEXT_LENGTH = 200

/** The rows that can't be read: each is left out and reported once, and everything else works. */
export class BadRows {
  readonly #report: (line: string) => void
  readonly #rows = new Map<string, BadRow>()
  #count = 0

  constructor(report: (line: string) => void) {
    this.#report = report
  }

  /** How many were found since the start. */
  get count(): number {
    return this.#count
  }

  /** The first of them. */
  list(): BadRow[] {
    return [...this.#rows.values()]
  }

  note(table: string, id: string, problem: string): void {
    const row = { table, id: id.slice(0, MAX_TEXT_LENGTH), problem: problem.slice(0, MAX_TEXT_LENGTH) }
    const key = JSON.stringify(row)
    if (this.#rows.has(key) || this.#rows.size >= MAX_LISTED) return
    this.#count += 1
    this.#rows.set(key, row)
    this.#report(`A row of "${table}" is damaged (${row.id}): ${row.problem}`)
  }

  /** Reads each row; leaves out those that `read` throws on. */
  readEach<Row, Value>(
    table: string,
    rows: readonly Row[],
    { idOf, read }: { idOf: (row: Row) => string; read: (row: Row) => Value },
  ): Value[] {
    const values: Value[] = []
    for (const row of rows) {
      try {
        values.push(read(row))
      } catch (error) {
        this.note(table, idOf(row), `It was left out: ${(error as Error).message}`)
      }
    }
    return values
  }
}
