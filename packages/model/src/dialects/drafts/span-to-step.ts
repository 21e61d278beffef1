import type { Span } from '../../otlp/span.ts'
import type { StepDraft } from '../../session/step-draft.ts'
import { draftStep } from './draft-step.ts'

/** Counts up when the same span would give another step: stored steps of an older version are derived again. */
export const NORMALIZER_VERSION = 1

/** The one conversion of a span into a step, whatever its dialects. Pure, and never throws. */
export function spanToStep(span: Span): StepDraft {
  try {
    return draftStep(span)
  } catch {
    return draftPlainStep(span)
  }
}

/** What is left when attributes can't be read at all: the step is there, and its attributes can be looked at. */
function draftPlainStep(span: Span): StepDraft {
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
  }
}
