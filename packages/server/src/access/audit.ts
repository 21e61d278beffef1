import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { AuditEntry } from '../api/schemas/audit.ts'

/** What a caller writes; the log adds an id and the time. */
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'detail' | 'subject'> & {
  subject?: string
  detail?: string
}

const MAX_TEXT_LENGTH = 500
const MAX_PENDING = 10_000
const MAX_WAIT_MS = 2_000
const RETRY_MS = 5_000
/** Repeated refusals within this time become one entry with a count. */
const REPEAT_WINDOW_MS = 600_000
const MAX_REPEATED = 200

/**
 * The audit log. An entry never fails the request that it is about: if the store does not take it, the entry is printed in
 * the server's output and written once the store is back.
 */
export class AuditLog {
  readonly #client: ClickHouseClient
  readonly #report: (line: string) => void
  readonly #pending: AuditEntry[] = []
  readonly #repeated = new Map<string, { entry: NewAuditEntry; times: number }>()
  #printed = new Set<string>()
  #flushing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(client: ClickHouseClient, report: (line: string) => void) {
    this.#client = client
    this.#report = report
  }

  /** Entries that are not in the store yet. */
  get pendingCount(): number {
    return this.#pending.length
  }

  /** Resolves once the entry is stored, or printed because it could not be stored yet. Never rejects. */
  async record(given: NewAuditEntry): Promise<void> {
    const { subject = '', detail = '', ...rest } = given
    const entry: AuditEntry = {
      ...rest,
      subject: subject.slice(0, MAX_TEXT_LENGTH),
      detail: detail.slice(0, MAX_TEXT_LENGTH),
      id: randomUUID(),
      at: new Date().toISOString(),
    }
    this.#pending.push(entry)
    if (this.#pending.length > MAX_PENDING) this.#print(this.#pending.splice(0, 1), 'too many entries wait')
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      if (this.#pending.includes(entry)) this.#print([entry], 'the store does not respond')
      late.resolve()
    }, MAX_WAIT_MS).unref()
    await Promise.race([this.#flush(), late.promise])
    clearTimeout(timer)
  }

  /** Records something that a stranger can repeat at will: at once, then the repetitions as one entry with their number. */
  recordRepeatable(given: NewAuditEntry): void {
    const { action, caller } = given
    const isCrowded = this.#repeated.size >= MAX_REPEATED
    const key = JSON.stringify([action, caller.id, isCrowded ? '' : caller.address])
    const repeated = this.#repeated.get(key)
    if (repeated !== undefined) {
      repeated.times += 1
      return
    }
    this.#repeated.set(key, { entry: given, times: 0 })
    setTimeout(() => this.#endRepeated(key), REPEAT_WINDOW_MS).unref()
    void this.record(given)
  }

  /** Writes what waits. What the store does not take now has been printed. */
  async close(): Promise<void> {
    for (const key of this.#repeated.keys()) this.#endRepeated(key)
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
  }

  #endRepeated(key: string): void {
    const repeated = this.#repeated.get(key)
    this.#repeated.delete(key)
    if (repeated === undefined || repeated.times === 0) return
    const { entry, times } = repeated
    const detail = `${times} more ${times === 1 ? 'time' : 'times'}`
    void this.record({ ...entry, detail: entry.detail ? `${entry.detail}; ${detail}` : detail })
  }

  async #flush(): Promise<void> {
    // An insert that runs already may have started without the newest entries.
    while (this.#flushing !== undefined) await this.#flushing
    if (this.#pending.length === 0) return
    this.#flushing = this.#insert([...this.#pending]).finally(() => (this.#flushing = undefined))
    await this.#flushing
  }

  async #insert(entries: AuditEntry[]): Promise<void> {
    try {
      await this.#client.insert({ table: 'audit', format: 'JSONEachRow', values: entries.map(toRow) })
      const written = new Set(entries)
      const left = this.#pending.filter((entry) => !written.has(entry))
      this.#pending.splice(0, this.#pending.length, ...left)
      for (const { id } of entries) this.#printed.delete(id)
    } catch (error) {
      this.#print(entries, (error as Error).message)
      if (this.#isClosed) return
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#flush(), RETRY_MS).unref()
    }
  }

  /** Prints each entry once. */
  #print(entries: readonly AuditEntry[], reason: string): void {
    for (const entry of entries) {
      if (this.#printed.has(entry.id)) continue
      this.#printed.add(entry.id)
      this.#report(`Audit entry not stored yet (${reason}): ${JSON.stringify(entry)}`)
    }
    if (this.#printed.size > 2 * MAX_PENDING) this.#printed = new Set(this.#pending.map(({ id }) => id))
  }
}

function toRow({ caller, project, ...entry }: AuditEntry) {
  return {
    ...entry,
    project: project ?? '',
    caller_kind: caller.kind,
    caller_id: caller.id,
    caller_name: caller.name,
    address: caller.address,
  }
}
