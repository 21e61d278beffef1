import {
  NORMALIZER_VERSION,
  trimOutlines,
  type Attributes,
  type Pricer,
  type Scope,
  type Span,
  type StepOutline,
} from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import { MAX_LIVE_BATCH } from '../live/live-feed.ts'
import type { FreshRows } from '../sessions/fresh-rows.ts'
import { arrivalOf, toStepRow, type StepRow } from '../store/steps-table.ts'
import { deriveOutline } from './derive-step.ts'
import type { FailureSink } from './dialect-failures.ts'
import { MAX_ENVELOPE_COPIES_BYTES } from './limits.ts'

/** The outlines of a batch for live viewers. While nobody watches, only those that may begin a session. */
export class LiveOutlines {
  readonly list: StepOutline[] = []
  readonly #isKept: boolean

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  add(outline: StepOutline): void {
    if (this.list.length > MAX_LIVE_BATCH) return
    const last = this.list.at(-1)
    const isLater = outline.sessionId === last?.sessionId && outline.startedAtMs >= last.startedAtMs
    if (this.#isKept || !isLater) this.list.push(outline)
  }
}

export type StepContext = {
  receivedAtMs: number
  isRewrite: boolean
  nextArrival: () => number
  dialectFailures: FailureSink
  pricer: Pricer
  revision: number
  resourceText: (resource: Attributes) => string
  outlines: LiveOutlines
  freshRows: FreshRows
  /** The traces of the rows. */
  touched: Set<string>
}

/** Spans that are derived together. A tool's span mostly arrives within so many of the call that asked for it. */
const WINDOW_SPANS = 512

/** A generator, so that the rows of a large batch are never all in memory at once. */
export function* stepRows(
  project: string,
  spans: readonly Span[],
  context: StepContext,
): Generator<StepRow, void> {
  const derivation = { normalizerVersion: NORMALIZER_VERSION, priceRevision: context.revision }
  const { receivedAtMs, pricer, dialectFailures, resourceText, outlines, freshRows, touched } = context
  const { isRewrite, nextArrival } = context
  let lastTrace = ''
  for (let start = 0; start < spans.length; start += WINDOW_SPANS) {
    const window = spans.slice(start, start + WINDOW_SPANS)
    const derived = window.map((span) => deriveOutline(span, pricer, dialectFailures))
    trimOutlines(derived)
    for (const [index, span] of window.entries()) {
      const outline = derived[index]!
      outlines.add(outline)
      if (span.traceId !== lastTrace) touched.add(span.traceId)
      lastTrace = span.traceId
      const arrival = arrivalOf(span, nextArrival(), isRewrite)
      const resource = resourceText(span.resource)
      const row = toStepRow(project, span, outline, { receivedAtMs, arrival, derivation, resource })
      if (spans.length <= MAX_LIVE_BATCH) freshRows.add(row)
      yield row
    }
  }
}

/** The items of a batch share their resource object: it is stringified once. */
export function cacheText(): (attributes: Attributes) => string {
  let last: Attributes | undefined
  let text = ''
  return (attributes) => {
    if (attributes !== last) {
      last = attributes
      text = JSON.stringify(attributes)
    }
    return text
  }
}

/**
 * OTLP sends resource and scope once for many items; the store keeps a copy with each. A body of 2 MB could expand to
 * gigabytes, so such a request is refused before any row is made.
 */
export function limitEnvelopeCopies(
  items: readonly { resource: Attributes; scope: Scope }[],
  textOf: (resource: Attributes) => string,
): void {
  let bytes = 0
  for (const { resource, scope } of items) {
    bytes += textOf(resource).length + scope.name.length + scope.version.length
    if (bytes <= MAX_ENVELOPE_COPIES_BYTES) continue
    throw new KnownError(
      'BODY_TOO_LARGE',
      `Resource and scope are stored with each of the ${items.length} items, which takes more than ${MAX_ENVELOPE_COPIES_BYTES} bytes: send smaller batches or shorter resources.`,
    )
  }
}
