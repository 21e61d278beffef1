import { CompactList } from './compact-list.ts'
import { SessionRecord } from './session-record.ts'

/** Ended sessions are forgotten, the oldest first, once they hold more than this together. */
const MAX_ENDED_BYTES = 64 * 1024 * 1024

/** The sessions of this process: all that have open steps, and the last that have none. */
export class SessionStore {
  keepSessions = 20
  readonly #open = new CompactList<SessionRecord>()
  /** Oldest first. */
  #ended: SessionRecord[] = []
  #endedBytes = 0
  /** Sessions that are known by nothing but their trace: those that other instrumentation began. */
  readonly #byTrace = new Map<string, SessionRecord>()

  /** A session that is not in any of the code's contexts, by its trace. */
  findByTrace(id: string): SessionRecord | undefined {
    return this.#byTrace.get(id)
  }

  /** Such a session, known from now on. */
  addByTrace(id: string): SessionRecord {
    const record =
      this.#byTrace.get(id) ?? this.#ended.findLast((ended) => ended.id === id) ?? new SessionRecord(id)
    this.#byTrace.set(id, record)
    return record
  }

  /** Called when a step of a session has started. */
  noteOpen(record: SessionRecord): void {
    if (record.listIndex >= 0) return
    this.#open.add(record)
    const index = record.isKept ? this.#ended.indexOf(record) : -1
    if (index === -1) return
    this.#ended.splice(index, 1)
    this.#endedBytes -= record.byteCount
    record.isKept = false
  }

  /** Called when the last open step of a session has ended. */
  settle(record: SessionRecord): void {
    if (!this.#open.remove(record)) return
    this.#byTrace.delete(record.id)
    record.isKept = true
    this.#ended.push(record)
    this.#endedBytes += record.byteCount
    while (this.#ended.length > this.keepSessions || this.#endedBytes > MAX_ENDED_BYTES) {
      const oldest = this.#ended.shift()
      if (oldest === undefined) return
      oldest.isKept = false
      this.#endedBytes -= oldest.byteCount
    }
  }

  openRecords(): Iterable<SessionRecord> {
    return this.#open
  }

  /** By id or the beginning of one; the latest first. */
  find(prefix: string): SessionRecord | undefined {
    for (const record of this.#open) if (record.id.startsWith(prefix)) return record
    return this.#ended.findLast((record) => record.id.startsWith(prefix))
  }
}
