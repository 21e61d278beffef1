import { TraceFlags, type Context, type Span } from '@opentelemetry/api'
import { isOfAgent } from '../opentelemetry/outgoing-values.ts'
import { preciseNowMs, toHrTime } from '../opentelemetry/clock.ts'
import { OWN_SCOPE, scopeOf, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { frameOf } from './session-frame.ts'
import { SessionRecord } from './session-record.ts'
import type { SessionStore } from './session-store.ts'

/** Who wants to know what happens to steps. */
export type StepListener = {
  onStepStart(span: RecordedSpan, record: SessionRecord): void
  onStepEnd(span: RecordedSpan, record: SessionRecord): void
}

/** The part of OpenTelemetry's `SpanProcessor` that all its majors share; a host adds it to its own tracer provider. */
export type PlayheadSpanProcessor = {
  onStart(span: Span, parentContext: Context): void
  onEnd(span: RecordedSpan): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

// Shared by the copies of the SDK that `import` and `require` load.
const RECORD = Symbol.for('playhead.session')

/** The session that a span was recorded in; undefined for one that was not. */
export function recordOf(span: object): SessionRecord | undefined {
  return (span as { [RECORD]?: SessionRecord })[RECORD]
}

/** Sorts spans into sessions. Of traces in which no agent works it takes nothing. */
export class SpanRecorder {
  /** Set while a session's own span is started: the first of its trace. */
  isSessionStarting = false
  readonly #store: SessionStore
  readonly #listeners: readonly StepListener[]
  /** Called with what went wrong in here; it never reaches the host. */
  readonly #onFault: (error: unknown) => void

  constructor(store: SessionStore, listeners: readonly StepListener[], onFault: (error: unknown) => void) {
    this.#store = store
    this.#listeners = listeners
    this.#onFault = onFault
  }

  onStart(span: Span, parentContext: Context): void {
    try {
      const recorded = span as unknown as RecordedSpan
      if ((recorded.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
      const record = this.#findRecord(recorded, parentContext)
      if (record === undefined) return
      if (scopeOf(recorded).name === OWN_SCOPE) sharpenStart(recorded)
      ;(span as { [RECORD]?: SessionRecord })[RECORD] = record
      record.start(recorded)
      this.#store.noteOpen(record)
      for (const listener of this.#listeners) listener.onStepStart(recorded, record)
    } catch (fault) {
      this.#onFault(fault)
    }
  }

  onEnd(span: RecordedSpan): void {
    try {
      const record = recordOf(span) ?? this.#findLate(span)
      if (record === undefined) return
      record.end(span)
      for (const listener of this.#listeners) listener.onStepEnd(span, record)
      if (record.open.size === 0) this.#store.settle(record)
    } catch (fault) {
      this.#onFault(fault)
    }
  }

  #findRecord(span: RecordedSpan, parentContext: Context): SessionRecord | undefined {
    const { traceId } = span.spanContext()
    if (this.isSessionStarting) {
      this.isSessionStarting = false
      return new SessionRecord(traceId)
    }
    const framed = frameOf(parentContext)?.record
    if (framed?.id === traceId) return framed
    const known = this.#store.findByTrace(traceId)
    if (known !== undefined) return known
    return isOfAgent(span) ? this.#store.addByTrace(traceId) : undefined
  }

  /** A span that began before its trace was known to be an agent's. */
  #findLate(span: RecordedSpan): SessionRecord | undefined {
    const { traceId, traceFlags } = span.spanContext()
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return undefined
    const known = this.#store.findByTrace(traceId)
    if (known !== undefined || !isOfAgent(span)) return known
    const record = this.#store.addByTrace(traceId)
    this.#store.noteOpen(record)
    return record
  }
}

/** Our steps in a host's provider: OpenTelemetry's spans start at full milliseconds, and their end is counted from the start. */
function sharpenStart(span: RecordedSpan): void {
  const { _startTimeProvided: isGiven } = span as RecordedSpan & { _startTimeProvided?: unknown }
  if (isGiven === false)
    (span as { startTime: RecordedSpan['startTime'] }).startTime = toHrTime(preciseNowMs())
}
