import { createRequire } from 'node:module'
import {
  asOneSession,
  assembleSession,
  priceStep,
  spanToStep,
  type Pricer,
  type Session,
  type StepContent,
  type StepDraft,
  type StepOutline,
} from '@playhead/model'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { SpanSanitizer } from '../opentelemetry/span-sanitizer.ts'
import { toModelSpan } from '../opentelemetry/to-model-span.ts'
import { trueNowMs } from '../opentelemetry/clock.ts'
import type { SessionRecord } from './session-record.ts'

/** Ended steps never change. */
const draftCache = new WeakMap<RecordedSpan, StepDraft>()
const sessionCache = new WeakMap<
  SessionRecord,
  { changeCount: number; session: Session; isPriced: boolean }
>()

/** Assembles a session from memory, as the server would return it. Prices are loaded only if they are asked for. */
export function readSession(
  record: SessionRecord,
  sanitizer: SpanSanitizer,
  { isPriced }: { isPriced: boolean },
): Session {
  const cached = sessionCache.get(record)
  const isCurrent = cached?.changeCount === record.changeCount
  if (isCurrent && (cached.isPriced || !isPriced)) return cached.session
  const session = assemble(record, sanitizer, isPriced)
  sessionCache.set(record, { changeCount: record.changeCount, session, isPriced })
  return session
}

function assemble(record: SessionRecord, sanitizer: SpanSanitizer, isPriced: boolean): Session {
  const outlines: StepOutline[] = []
  const contents = new Map<string, StepContent>()
  for (const span of [...record.ended, ...record.open.values()]) {
    const draft = draftOf(span, sanitizer)
    if (draft === undefined) continue
    outlines.push(draft.outline)
    contents.set(draft.outline.id, draft.content)
  }
  const pricer = isPriced && outlines.some(hasPrice) ? loadPrices() : null
  if (pricer !== null) for (const outline of outlines) priceStep(outline, pricer)
  const nowMs = trueNowMs()
  const isOneTrace = record.joinedTraceIds.length === 0
  return assembleSession({
    outlines: isOneTrace ? outlines : asOneSession(record.id, outlines),
    contents,
    nowMs,
    lastHeardAtMs: nowMs,
    isReadWhileRecording: true,
  })
}

/** The price table is large, so a session without tokens does not load it. */
function hasPrice({ usage, reportedCost }: StepOutline): boolean {
  return usage !== undefined || reportedCost !== undefined
}

/** Undefined for a span that can't be read, which can't be sent either: its delivery reports it. */
function draftOf(span: RecordedSpan, sanitizer: SpanSanitizer): StepDraft | undefined {
  const cached = draftCache.get(span)
  if (cached !== undefined) return cached
  try {
    const draft = spanToStep(toModelSpan(span, sanitizer))
    if (span.ended) draftCache.set(span, draft)
    return draft
  } catch {
    return undefined
  }
}

/** Next to this file in the repository, next to the bundle in the package. */
const priceTable = import.meta.url.endsWith('.ts') ? './price-table.ts' : './price-table.cjs'

let loadedPrices: Pricer | null | undefined

/** Loads the price table on first use; null if it is missing, as in an app that was bundled without it. */
export function loadPrices(): Pricer | null {
  if (loadedPrices === undefined) {
    try {
      loadedPrices = (createRequire(import.meta.url)(priceTable) as { pricer: Pricer }).pricer
    } catch {
      loadedPrices = null
    }
  }
  return loadedPrices
}
