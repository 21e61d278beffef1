import type { Attributes, HrTime, Link, SpanContext, SpanStatus } from '@opentelemetry/api'

/**
 * What is read of a span of OpenTelemetry's SDK. The host's own may be of the majors 1, 2 or 3, which differ in how they
 * name the parent and the scope.
 */
export type RecordedSpan = {
  readonly name: string
  readonly kind: number
  spanContext(): SpanContext
  readonly parentSpanContext?: SpanContext | undefined
  /** Major 1. */
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
  /** Major 1. */
  readonly instrumentationLibrary?: InstrumentationScope | undefined
}

export type InstrumentationScope = { readonly name: string; readonly version?: string | undefined }

const unknownScope: InstrumentationScope = { name: '' }

export function scopeOf(span: RecordedSpan): InstrumentationScope {
  return span.instrumentationScope ?? span.instrumentationLibrary ?? unknownScope
}

export function parentIdOf(span: RecordedSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? span.parentSpanId
}

export function isParentRemote(span: RecordedSpan): boolean {
  return span.parentSpanContext?.isRemote === true
}

/** The instrumentation scope of everything that this SDK records. */
export const OWN_SCOPE = 'playhead'
