import {
  assembleSession,
  priceStep,
  spanToStep,
  type Session,
  type StepContent,
  type StepDraft,
  type StepOutline,
  type Pricer,
} from '@playhead/model'
import type { OutgoingValues } from '../opentelemetry/outgoing-values.ts'
import type { RecordedSpan } from '../opentelemetry/recorded-span.ts'
import type { SessionRecord } from './session-record.ts'
import { toModelSpan } from '../opentelemetry/to-model-span.ts'
import { createRequire } from 'node:module'

/** What an ended step says never changes. */
const drafts = new WeakMap<RecordedSpan, StepDraft>()

type Reading = { changeCount: number; session: Session; isPriced: boolean }
const readings = new WeakMap<SessionRecord, Reading>()

/** The session as the server would give it, from what is in memory. Prices are looked up when they are asked for. */
export function readSession(
  record: SessionRecord,
  outgoing: OutgoingValues,
  { isPriced }: { isPriced: boolean },
): Session {
  const known = readings.get(record)
  const isCurrent = known?.changeCount === record.changeCount
  if (isCurrent && (known.isPriced || !isPriced)) return known.session
  const session = assemble(record, outgoing, isPriced)
  readings.set(record, { changeCount: record.changeCount, session, isPriced })
  return session
}

function assemble(record: SessionRecord, outgoing: OutgoingValues, isPriced: boolean): Session {
  const outlines: StepOutline[] = []
  const contents = new Map<string, StepContent>()
  for (const span of [...record.ended, ...record.open.values()]) {
    const { outline, content } = draftOf(span, outgoing)
    outlines.push(outline)
    contents.set(outline.id, content)
  }
  const pricer = isPriced && outlines.some(hasPrice) ? loadPrices() : null
  if (pricer !== null) for (const outline of outlines) priceStep(outline, pricer)
  const nowMs = Date.now()
  return assembleSession({ outlines, contents, nowMs, lastHeardAtMs: nowMs })
}

/** The table is large: a session without tokens does without it. */
function hasPrice({ usage, reportedCost }: StepOutline): boolean {
  return usage !== undefined || reportedCost !== undefined
}

function draftOf(span: RecordedSpan, outgoing: OutgoingValues): StepDraft {
  const known = drafts.get(span)
  if (known !== undefined) return known
  const draft = spanToStep(toModelSpan(span, outgoing))
  if (span.ended) drafts.set(span, draft)
  return draft
}

/** In the repository it is next to this file, in the package next to the bundle. */
const file = import.meta.url.endsWith('.ts') ? './price-table.ts' : './price-table.cjs'

let loaded: Pricer | null | undefined

/** The price table, loaded at once on first use; null when it can't be found, as in an app that was bundled without it. */
function loadPrices(): Pricer | null {
  if (loaded === undefined) {
    try {
      loaded = (createRequire(import.meta.url)(file) as { pricer: Pricer }).pricer
    } catch {
      loaded = null
    }
  }
  return loaded
}
