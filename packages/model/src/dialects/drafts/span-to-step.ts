import type { Span } from '../../otlp/span.ts'
import type { DialectFailure, StepDraft } from '../../session/step-draft.ts'
import { allDialects } from '../all-dialects.ts'
import type { SpanReading } from '../reading/dialect.ts'
import type { DialectSet } from '../reading/dialect-set.ts'
import { readSpan } from '../reading/read-span.ts'
import { draftStep, labelOf } from './draft-step.ts'

/** Increases when the same span would give another step: stored steps of an older version are derived again. */
export const NORMALIZER_VERSION = 1

/** The one conversion of a span into a step, whatever its dialects. Pure, and never throws: bugs are in `failures`. */
export const spanToStep = createSpanToStep(allDialects)

/** As `spanToStep`, with a list of dialects of your own. */
export function createSpanToStep(dialects: DialectSet): (span: Span) => StepDraft {
  return (span) => {
    let reading: SpanReading | undefined
    try {
      reading = readSpan(span, dialects)
      return draftStep(reading)
    } catch (error) {
      const dialect = reading === undefined ? 'generic' : labelOf(reading)
      return draftPlainStep(span, [...(reading?.failures ?? []), { dialect, message: String(error) }])
    }
  }
}

/** The step without what its attributes say; they are kept to be shown. */
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
