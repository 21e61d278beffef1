import { CompactList } from './compact-list.ts'
import { SessionRecord } from './session-record.ts'

/** Limits the ended sessions that are kept; the oldest are dropped first. */
const MAX_ENDED_BYTES = 64 * 1024 * 1024

/** The sessions of this process: all with open steps, and the most recent ones without. */
export class SessionStore {
  keepSessions = 20
  readonly #open = new CompactList<SessionRecord>()
  /** Oldest first. */
  #ended: SessionRecord[] = []
  #endedBytes = 0
  /** Sessions that other instrumentation started: no context refers to them, so their trace id identifies them. */
  readonly #byTrace = new Map<string, SessionRecord>()

  findByTrace(id: string): SessionRecord | undefined {
    return this.#byTrace.get(id)
  }

  addByTrace(id: string): SessionRecord {
    const record =
      this.#byTrace.get(id) ?? this.#ended.findLast((ended) => ended.id === id) ?? new SessionRecord(id)
    this.#byTrace.set(id, record)
    return record
  }

  /** Called when a step of the session has started. */
  markOpen(record: SessionRecord): void {
    if (record.listIndex >= 0) return
    this.#open.add(record)
    const index = record.isKept ? this.#ended.indexOf(record) : -1
    if (index === -1) return
    this.#ended.splice(index, 1)
    this.#endedBytes -= record.byteCount
    record.isKept = false
  }

  /** Called when the last open step of the session has ended. */
  markEnded(record: SessionRecord): void {
    if (!this.#open.remove(record)) return
    for (const id of [record.id, ...record.joinedTraceIds]) this.#byTrace.delete(id)
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

  /** Makes a trace part of an earlier session. */
  join(part: SessionRecord, earlier: SessionRecord): void {
    this.#open.remove(part)
    this.markOpen(earlier)
    earlier.take(part)
    for (const id of earlier.joinedTraceIds) this.#byTrace.set(id, earlier)
  }

  openRecords(): Iterable<SessionRecord> {
    return this.#open
  }

  /** Finds the latest session whose id starts with the prefix. */
  find(prefix: string): SessionRecord | undefined {
    const isMeant = ({ id, joinedTraceIds }: SessionRecord) =>
      id.startsWith(prefix) || joinedTraceIds.some((traceId) => traceId.startsWith(prefix))
    for (const record of this.#open) if (isMeant(record)) return record
    return this.#ended.findLast(isMeant)
  }
}
