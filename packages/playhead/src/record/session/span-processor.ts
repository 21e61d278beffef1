import { TraceFlags, type Context, type HrTime, type Span } from '@opentelemetry/api'
import { isAgentSpan } from '@playhead/model'
import { hostClockOffsetMs, preciseNowMs, toHrTime, toTrueTime } from '../opentelemetry/clock.ts'
import type { SpanObserver } from '../opentelemetry/own-tracer.ts'
import { isOwnSpan, scopeOf, type RecordedSpan } from '../opentelemetry/recorded-span.ts'
import { activeRun } from './active-run.ts'
import { frameOf } from './session-frame.ts'
import { recordOf, SessionRecord } from './session-record.ts'
import type { SessionStore } from './session-store.ts'

/** Receives the steps of all sessions, to send or to write them. */
export type StepListener = {
  onStepStart?(span: RecordedSpan, record: SessionRecord): void
  /** `byteCount` estimates the memory that the step takes. */
  onStepEnd?(span: RecordedSpan, record: SessionRecord, byteCount: number): void
  onSessionEnd?(): void
}

/** Assigns spans to sessions. Traces without agent activity are ignored. */
export class SpanProcessor implements SpanObserver {
  /** Set while the root span of a session is started. */
  isSessionStarting = false
  /** The session of the next span, which no context leads to: a score, perhaps of a session that has ended. */
  nextRecord: SessionRecord | undefined
  readonly #store: SessionStore
  readonly #listeners: readonly StepListener[]
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
      if (isOwnSpan(recorded) || hostClockOffsetMs() !== undefined) refineStartTime(recorded)
      const isRoot = record.changeCount === 0
      record.start(recorded)
      if (isRoot && record.partId === undefined) activeRun()?.addRoot(span, record)
      this.#store.markOpen(record)
      for (const listener of this.#listeners) listener.onStepStart?.(recorded, record)
    } catch (fault) {
      this.#onFault(fault)
    }
  }

  onEnd(span: RecordedSpan): void {
    try {
      const record = recordOf(span) ?? this.#findRecordAtEnd(span)
      if (record === undefined) return
      if (hostClockOffsetMs() !== undefined) setTime(span, 'endTime', toTrueTime(span.endTime))
      const byteCount = record.end(span)
      for (const listener of this.#listeners) listener.onStepEnd?.(span, record, byteCount)
      if (record.open.size === 0) this.#store.markEnded(record)
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
    if (this.nextRecord !== undefined) return this.nextRecord
    const framed = frameOf(parentContext)?.record
    if (framed?.id === traceId) return framed
    const known = this.#store.findByTrace(traceId)
    if (known !== undefined) return known
    return isAgentActivity(span) ? this.#store.addByTrace(traceId) : undefined
  }

  /** A span may start before anything shows that its trace is an agent's. */
  #findRecordAtEnd(span: RecordedSpan): SessionRecord | undefined {
    const { traceId, traceFlags } = span.spanContext()
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return undefined
    const known = this.#store.findByTrace(traceId)
    if (known !== undefined || !isAgentActivity(span)) return known
    const record = this.#store.addByTrace(traceId)
    this.#store.markOpen(record)
    return record
  }
}

function isAgentActivity(span: RecordedSpan): boolean {
  return isOwnSpan(span) || isAgentSpan(scopeOf(span).name, span.attributes)
}

/** OpenTelemetry's own spans start at whole milliseconds of the host's `Date`, and their end is measured from the start. */
function refineStartTime(span: RecordedSpan): void {
  const { _startTimeProvided: isGiven } = span as RecordedSpan & { _startTimeProvided?: unknown }
  setTime(span, 'startTime', isGiven === false ? toHrTime(preciseNowMs()) : toTrueTime(span.startTime))
}

function setTime(span: RecordedSpan, name: 'startTime' | 'endTime', time: HrTime): void {
  if (span[name] !== time) (span as { [Name in typeof name]: HrTime })[name] = time
}
