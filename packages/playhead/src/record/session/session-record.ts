import { isParentRemote, parentIdOf, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { SessionView } from './session-view.ts'

/** Further steps of a session are still delivered, but not kept in memory. */
const MAX_KEPT_STEPS = 20_000
const MAX_KEPT_BYTES = 64 * 1024 * 1024

// Shared by the copies of the SDK that `import` and `require` load.
const RECORD = Symbol.for('playhead.session')

/** The session that a span was recorded in; undefined if it was not recorded. */
export function recordOf(span: object): SessionRecord | undefined {
  return (span as { [RECORD]?: SessionRecord })[RECORD]
}

/** What this process knows about one session: its ended and its open steps. */
export class SessionRecord {
  readonly id: string
  /** Its position in the list of open sessions. */
  listIndex = -1
  /** True while the store keeps it as an ended session. */
  isKept = false
  readonly startedAtMs = Date.now()
  /** The id of the first step, if another process started the session and this is only a part of it. */
  partId: string | undefined
  readonly ended: RecordedSpan[] = []
  /** By span id. */
  readonly open = new Map<string, RecordedSpan>()
  /** Ids of the open steps that were announced to the server. */
  readonly announced = new Set<string>()
  /** Increases with every change, to invalidate caches. */
  changeCount = 0
  byteCount = 0
  /** When something was last queued for the server. */
  lastSentAtMs = Date.now()
  /** Created when the host first asks for it. */
  view: SessionView | undefined

  constructor(id: string) {
    this.id = id
  }

  start(span: RecordedSpan): void {
    ;(span as { [RECORD]?: SessionRecord })[RECORD] = this
    const { spanId } = span.spanContext()
    if (this.changeCount === 0 && isParentRemote(span)) this.partId = spanId
    this.open.set(spanId, span)
    this.changeCount += 1
  }

  end(span: RecordedSpan): void {
    const { spanId } = span.spanContext()
    this.open.delete(spanId)
    if (this.announced.size > 0) this.announced.delete(spanId)
    this.changeCount += 1
    if (this.ended.length >= MAX_KEPT_STEPS || this.byteCount >= MAX_KEPT_BYTES) return
    this.ended.push(span)
    this.byteCount += sizeOf(span)
  }

  /** The ids of the open steps around a span, nearest first. */
  ancestorsOf(span: RecordedSpan): Set<string> {
    const ancestors = new Set<string>()
    let parentId = parentIdOf(span)
    while (parentId !== undefined && !ancestors.has(parentId)) {
      ancestors.add(parentId)
      const parent = this.open.get(parentId)
      parentId = parent === undefined ? undefined : parentIdOf(parent)
    }
    return ancestors
  }
}

/** A rough estimate of the memory that a span takes. */
function sizeOf({ attributes }: RecordedSpan): number {
  let size = 500
  for (const key in attributes) {
    const value = attributes[key]
    size += typeof value === 'string' ? value.length : 16
  }
  return size
}
