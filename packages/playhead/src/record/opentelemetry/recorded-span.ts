import type { Attributes, HrTime, Link, SpanContext, SpanStatus } from '@opentelemetry/api'

/**
 * What we read from a span. The host may use OpenTelemetry's SDK 1, 2 or 3, which name the parent and the scope
 * differently.
 */
export type RecordedSpan = {
  readonly name: string
  readonly kind: number
  spanContext(): SpanContext
  readonly parentSpanContext?: SpanContext | undefined
  /** SDK 1 only. */
  readonly parentSpanId?: string | undefined
  readonly startTime: HrTime
  readonly endTime: HrTime
  readonly ended: boolean
  readonly status: SpanStatus
  readonly attributes: Attributes
  readonly links: readonly Link[]
  readonly events: readonly {
    readonly name: string
    readonly time: HrTime
    readonly attributes?: Attributes
  }[]
  readonly resource: { readonly attributes: Attributes }
  readonly instrumentationScope?: InstrumentationScope | undefined
  /** SDK 1 only. */
  readonly instrumentationLibrary?: InstrumentationScope | undefined
}

export type InstrumentationScope = { readonly name: string; readonly version?: string | undefined }

/** Where a span keeps the session that it belongs to. Shared by the copies of the SDK that `import` and `require` load. */
export const SESSION = Symbol.for('playhead.session')

/** The instrumentation scope of everything that this SDK records itself. */
export const OWN_SCOPE = 'playhead'

const unknownScope: InstrumentationScope = { name: '' }

export function scopeOf(span: RecordedSpan): InstrumentationScope {
  return span.instrumentationScope ?? span.instrumentationLibrary ?? unknownScope
}

export function isOwnSpan(span: RecordedSpan): boolean {
  return scopeOf(span).name === OWN_SCOPE
}

export function parentIdOf(span: RecordedSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? span.parentSpanId
}

export function isParentRemote(span: RecordedSpan): boolean {
  return span.parentSpanContext?.isRemote === true
}
