import {
  copiesToStep,
  priceStep,
  spanToOutline,
  type Pricer,
  type Span,
  type SpanCopy,
  type StepDraft,
  type StepOutline,
} from '@playhead/model'
import type { FailureSink } from './dialect-failures.ts'

/** Names, models, ids: what lists and trees show. The span itself is stored in full. */
const MAX_TEXT_LENGTH = 2_000
/** Tags, finish reasons. */
const MAX_LIST_LENGTH = 256
const MAX_LISTED_TEXT_LENGTH = 500
const MAX_ERROR_LENGTH = 16_000

/** Converts a span to a step with the current rules and prices it. Outlines are clipped: lists and live viewers hold many. */
export function deriveOutline(span: Span, pricer: Pricer, dialectFailures: FailureSink): StepOutline {
  return finishDraft(spanToOutline(span), pricer, dialectFailures).outline
}

/** As `deriveOutline`, with the content, for a span that arrived several times after it had ended. */
export function deriveCopies(
  copies: readonly SpanCopy[],
  pricer: Pricer,
  dialectFailures: FailureSink,
): { span: Span; draft: StepDraft } {
  const { span, draft } = copiesToStep(copies)
  return { span, draft: finishDraft(draft, pricer, dialectFailures) }
}

function finishDraft(draft: StepDraft, pricer: Pricer, dialectFailures: FailureSink): StepDraft {
  if (draft.failures !== undefined) dialectFailures.note(draft.failures)
  priceStep(draft.outline, pricer)
  clipFields(draft.outline, MAX_TEXT_LENGTH)
  return draft
}

function clipFields(fields: object, maxLength: number): void {
  const record = fields as Record<string, unknown>
  for (const key in record) {
    const value = record[key]
    if (typeof value === 'string') {
      if (value.length > maxLength) record[key] = clip(value, maxLength)
    } else if (Array.isArray(value)) record[key] = clipList(value)
    else if (typeof value === 'object' && value !== null)
      clipFields(value, key === 'error' || key === 'cause' ? MAX_ERROR_LENGTH : maxLength)
  }
}

function clipList(list: unknown[]): unknown[] {
  return list
    .slice(0, MAX_LIST_LENGTH)
    .map((item) => (typeof item === 'string' ? clip(item, MAX_LISTED_TEXT_LENGTH) : item))
}

/** Does not split surrogate pairs. */
function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`
}
