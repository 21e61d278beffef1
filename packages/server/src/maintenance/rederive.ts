import { NORMALIZER_VERSION, trimOutlines } from '@playhead/model'
import type { Registry } from '../access/registry.ts'
import { deriveOutline } from '../ingest/derive-step.ts'
import type { DialectFailures } from '../ingest/dialect-failures.ts'
import { countOutdated, recomputeFindings } from '../findings/recompute-findings.ts'
import type { SessionFindings } from '../findings/session-findings.ts'
import type { SegmentLog } from '../log/segment-log.ts'
import type { FreshSessions } from '../sessions/fresh-sessions.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import { readSpans } from '../sessions/stored-steps.ts'
import type { Store } from '../store/connect.ts'
import { toStepRow, type StepRow } from '../store/steps-table.ts'
import type { Progress } from './reprice.ts'
import { countSessions, sessionBatches } from './session-batches.ts'

type Stored = { store: Store; registry: Registry; joined: JoinedTraces; findings: SessionFindings }
type Targets = {
  steps: Pick<SegmentLog<StepRow>, 'append' | 'drain'>
  fresh: Pick<FreshSessions, 'forget'>
  dialectFailures: DialectFailures
}

export type RederiveResult = {
  project: string
  sessions: number
  steps: number
  /** Sessions whose findings were computed again. */
  findings: number
  normalizerVersion: number
}

/**
 * Derives the steps of stored spans again with the current rules, and then computes the findings of sessions again. Skips
 * those that are up to date, unless forced.
 */
export async function rederiveProject(
  stored: Stored & { targets: Targets },
  project: string,
  options: { isForced: boolean; onProgress: (progress: Progress) => Promise<void> },
): Promise<RederiveResult> {
  const { store, registry, joined, targets } = stored
  const condition = options.isForced ? '1' : `normalizer_version < ${NORMALIZER_VERSION}`
  if (options.isForced) await registry.advancePriceRevision(project)
  const result: RederiveResult = {
    project,
    sessions: 0,
    steps: 0,
    findings: 0,
    normalizerVersion: NORMALIZER_VERSION,
  }
  const total = await countSessions(store.client, project, condition)
  let done = 0
  for await (const ids of sessionBatches(store.client, project, condition)) {
    const rows = await deriveAgain(stored, project, ids)
    await targets.steps.append(
      rows,
      ids.map((id) => `${project}\0${id}`),
    )
    targets.fresh.forget(project, ids)
    await targets.steps.drain()
    done += ids.length
    result.sessions += await joined.countSessions(project, ids)
    result.steps += new Set(rows.map(({ span }) => `${span.traceId} ${span.spanId}`)).size
    await options.onProgress({ done, total })
  }
  const outdated = await countOutdated(store, project, options.isForced)
  result.findings = await recomputeFindings(stored, project, {
    isForced: options.isForced,
    onProgress: (computed) => options.onProgress({ done: done + computed, total: done + outdated }),
  })
  return result
}

async function deriveAgain(
  { store, registry, targets }: Pick<Stored, 'store' | 'registry'> & { targets: Targets },
  project: string,
  ids: readonly string[],
): Promise<StepRow[]> {
  const { pricer, revision } = registry.pricerOf(project)
  const derivation = { normalizerVersion: NORMALIZER_VERSION, priceRevision: revision }
  const rows = await readSpans(store, project, { ids, isEveryCopy: true })
  const outlines = rows.map(({ span }) => deriveOutline(span, pricer, targets.dialectFailures))
  trimOutlines(outlines)
  return rows.map(({ span, receivedMs: receivedAtMs, arrival, resource }, index) =>
    toStepRow(project, span, outlines[index]!, { receivedAtMs, arrival, derivation, resource }),
  )
}
