import type { Span } from '../../otlp/span.ts'
import type { DialectFailure, StepContent, StepDraft } from '../../session/step-draft.ts'
import { allDialects } from '../all-dialects.ts'
import type { SpanReading } from '../reading/dialect.ts'
import type { DialectSet } from '../reading/dialect-set.ts'
import { readSpan } from '../reading/read-span.ts'
import { draftContent, draftStep, labelOf } from './draft-step.ts'

/** Increased whenever the same span gives a different step, so that stored steps are derived again. */
export const NORMALIZER_VERSION = 5

/** The one conversion of a span into a step, whatever its dialects. Pure, and never throws: bugs are in `failures`. */
export const spanToStep = createSpanToStep(allDialects)

/** As `spanToStep`, for those who need only the outline: what is read of the content is incomplete. */
export const spanToOutline = createSpanToStep(allDialects, { isOutlineOnly: true })

/** The content of the step that `spanToStep` returns, in less time. */
export function spanContent(span: Span): StepContent {
  try {
    return draftContent(readSpan(span, allDialects))
  } catch {
    return { attributes: span.attributes }
  }
}

/** As `spanToStep`, with other dialects. */
export function createSpanToStep(
  dialects: DialectSet,
  { isOutlineOnly = false } = {},
): (span: Span) => StepDraft {
  return (span) => {
    let reading: SpanReading | undefined
    try {
      reading = readSpan(span, dialects, isOutlineOnly)
      return draftStep(reading)
    } catch (error) {
      const dialect = reading === undefined ? 'generic' : labelOf(reading)
      return draftPlainStep(span, [...(reading?.failures ?? []), { dialect, message: String(error) }])
    }
  }
}

/** A step with nothing but the span's own fields; its attributes are kept. */
function draftPlainStep(span: Span, failures: DialectFailure[]): StepDraft {
  return {
    outline: {
      sessionId: span.traceId,
      id: span.spanId,
      parentId: span.parentSpanId,
      isParentRemote: span.isParentRemote,
      startedAtMs: Number(span.startNs) / 1e6,
      endedAtMs: span.endNs === null ? null : Number(span.endNs) / 1e6,
      kind: 'other',
      name: span.name,
      dialect: 'generic',
      status: span.endNs === null ? 'running' : span.statusCode === 2 ? 'error' : 'ok',
    },
    content: { attributes: span.attributes },
    failures,
  }
}
