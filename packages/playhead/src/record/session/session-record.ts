import { isParentRemote, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { SessionView } from './session-view.ts'

/** More steps of one session are still delivered, but no longer kept in the process. */
const MAX_KEPT_STEPS = 20_000
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** What this process knows of one session: the steps that ended and those that are under way. */
export class SessionRecord {
  readonly id: string
  /** Its place among the open sessions. */
  listIndex = -1
  /** True while it is among the ended sessions that are kept. */
  isKept = false
  readonly startedAtMs = Date.now()
  /** Set where it is only a part of a session that another process began: the id of the step that the part begins with. */
  partId: string | undefined
  readonly ended: RecordedSpan[] = []
  /** By span id. */
  readonly open = new Map<string, RecordedSpan>()
  /** Ids of the open steps that the server was told of. */
  readonly announced = new Set<string>()
  /** Counts up with every change: what was made of the steps is good for as long as it stays. */
  changeCount = 0
  byteCount = 0
  /** Steps that were delivered and not kept. */
  unkeptStepCount = 0
  /** When the server last heard of it. */
  lastSentAtMs = Date.now()
  /** What the host sees of it, once it has asked. */
  view: SessionView | undefined

  constructor(id: string) {
    this.id = id
  }

  start(span: RecordedSpan): void {
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
    if (this.ended.length >= MAX_KEPT_STEPS || this.byteCount >= MAX_KEPT_BYTES) {
      this.unkeptStepCount += 1
      return
    }
    this.ended.push(span)
    this.byteCount += sizeOf(span)
  }

  /** The ids of the open steps around a span, nearest first. */
  ancestorsOf(span: RecordedSpan): Set<string> {
    const ancestors = new Set<string>()
    let parentId = span.parentSpanContext?.spanId ?? span.parentSpanId
    while (parentId !== undefined && !ancestors.has(parentId)) {
      ancestors.add(parentId)
      const parent = this.open.get(parentId)
      parentId = parent === undefined ? undefined : (parent.parentSpanContext?.spanId ?? parent.parentSpanId)
    }
    return ancestors
  }
}

/** Roughly what a span holds in memory. */
function sizeOf({ attributes }: RecordedSpan): number {
  let size = 500
  for (const key in attributes) {
    const value = attributes[key]
    size += typeof value === 'string' ? value.length : 16
  }
  return size
}
