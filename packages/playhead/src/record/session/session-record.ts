import { isParentRemote, parentIdOf, SESSION, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { trueNowMs } from '../opentelemetry/clock.ts'
import type { SessionView } from './session-view.ts'

/** Further steps of a session are still delivered, but not kept in memory. */
const MAX_KEPT_STEPS = 20_000
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/** The session that a span was recorded in; undefined if it was not recorded. */
export function recordOf(span: object): SessionRecord | undefined {
  return (span as { [SESSION]?: SessionRecord })[SESSION]
}

/** What this process knows about one session: its ended and its open steps. */
export class SessionRecord {
  readonly id: string
  /** Its position in the list of open sessions. */
  listIndex = -1
  /** True while the store keeps it as an ended session. */
  isKept = false
  readonly startedAtMs = trueNowMs()
  /** The traces that turned out to be part of this session. */
  readonly joinedTraceIds: string[] = []
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
  lastSentAtMs = trueNowMs()
  /** Created when the host first asks for it. */
  view: SessionView | undefined

  constructor(id: string) {
    this.id = id
  }

  start(span: RecordedSpan): void {
    ;(span as { [SESSION]?: SessionRecord })[SESSION] = this
    const { spanId } = span.spanContext()
    if (this.changeCount === 0 && isParentRemote(span)) this.partId = spanId
    this.open.set(spanId, span)
    this.changeCount += 1
  }

  /** Returns roughly how many bytes of memory the step takes. */
  end(span: RecordedSpan): number {
    const { spanId } = span.spanContext()
    this.open.delete(spanId)
    if (this.announced.size > 0) this.announced.delete(spanId)
    this.changeCount += 1
    const byteCount = sizeOf(span)
    if (this.ended.length >= MAX_KEPT_STEPS || this.byteCount >= MAX_KEPT_BYTES) return byteCount
    this.ended.push(span)
    this.byteCount += byteCount
    return byteCount
  }

  /** Takes the steps of a trace that turned out to be part of this session. */
  take(other: SessionRecord): void {
    this.joinedTraceIds.push(other.id, ...other.joinedTraceIds)
    for (const span of [...other.ended, ...other.open.values()])
      (span as { [SESSION]?: SessionRecord })[SESSION] = this
    for (const [id, span] of other.open) this.open.set(id, span)
    for (const id of other.announced) this.announced.add(id)
    for (const span of other.ended) this.end(span)
    other.open.clear()
    other.ended.length = 0
    this.changeCount += 1
    other.changeCount += 1
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

/** A span without its attributes. */
const BYTES_PER_SPAN = 1000
const BYTES_PER_VALUE = 16
const BYTES_PER_CHARACTER = 2

/** An upper estimate: V8 stores most text in one byte per character. */
function sizeOf({ attributes, events }: RecordedSpan): number {
  let size = BYTES_PER_SPAN + sizeOfAll(attributes)
  for (const event of events) size += BYTES_PER_SPAN + sizeOfAll(event.attributes)
  return size
}

function sizeOfAll(attributes: RecordedSpan['attributes'] | undefined): number {
  let size = 0
  for (const key in attributes) size += sizeOfValue(attributes[key], 0)
  return size
}

/** The host's attributes may be circular. */
const MAX_DEPTH = 4

function sizeOfValue(value: unknown, depth: number): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + BYTES_PER_CHARACTER * value.length
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return BYTES_PER_VALUE
  let size = BYTES_PER_VALUE
  for (const item of Object.values(value)) size += sizeOfValue(item, depth + 1)
  return size
}
